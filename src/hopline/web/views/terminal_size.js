/** The size of the worker's own terminal, and how it is given this window's. */

/** @import { Size } from "../terminal/screen.js" */
/** @import { RunState } from "../state/run.js" */
/** @import { Row } from "../wire/types.js" */

/** What a terminal has when nobody says otherwise. */
const USUAL = { columns: 80, rows: 24 };

/**
 * @param {RunState | undefined} run
 * @param {Row | undefined} row
 * @returns {Size | null} null when the worker writes to a pipe
 */
export function sizeOf(run, row) {
  if (run?.size) return run.size;
  if (!row?.pty) return null;
  return { columns: row.columns ?? USUAL.columns, rows: row.rows ?? USUAL.rows };
}

/** @param {Size | null} a @param {Size | null} b */
export function sameSize(a, b) {
  return a?.columns === b?.columns && a?.rows === b?.rows;
}
