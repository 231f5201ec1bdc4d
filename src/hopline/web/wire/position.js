/** Where a stream stands: what has come, what is known to exist, and what came of every interruption. */

/**
 * @typedef {"opening" | "resuming" | "live" | "catching-up" | "retrying" | "parked" | "ended" | "refused" | "failed"
 * } Phase
 *
 * @typedef {object} Position
 * @property {Phase} phase
 * @property {number} cursor  the last event received
 * @property {number} latest  the last event known to exist
 * @property {number} missed  events between the first and the last shown that were not received
 * @property {number} reconnects
 * @property {"" | "store" | "tail" | "skipped"} restarted  why the last restart happened
 * @property {number} skipped  how many events the last skip left out
 * @property {number} retryAt  when the next attempt is due, in milliseconds of Date.now()
 * @property {string} error
 */

/** @returns {Position} */
export function atStart() {
  return {
    phase: "opening",
    cursor: 0,
    latest: 0,
    missed: 0,
    reconnects: 0,
    restarted: "",
    skipped: 0,
    retryAt: 0,
    error: "",
  };
}
