/** In which order runs are listed, and which of them need a look. Pure. */

import { toneOfRow } from "./words.js";

/** @import { Row } from "../wire/types.js" */

/** How long after its end a failed run that nobody has looked at stands among what is wrong. */
export const FRESH_MILLIS = 12 * 3600 * 1000;

/** Activity is compared in coarse steps over the last minute, so that rows do not change places for a trifle. */
const RECENT_SLOTS = 6;

/** @param {Row} row */
export function activity(row) {
  const recent = row.rates.slice(-RECENT_SLOTS).reduce((sum, rate) => sum + rate, 0);
  return recent === 0 ? 0 : Math.floor(Math.log(recent) / Math.log(8)) + 1;
}

/** @param {Row} row */
export function endedAt(row) {
  return Date.parse(row.ended_at ?? row.started_at) || 0;
}

/** @param {Row} row @param {number} now @param {(id: string) => boolean} seen */
export function isWrong(row, now, seen) {
  return toneOfRow(row) === "wrong" && now - endedAt(row) < FRESH_MILLIS && !seen(row.id);
}

/** @param {Row} row @param {number} now @param {(id: string) => boolean} seen @returns {number} 0 comes first */
export function rank(row, now, seen) {
  if (row.waiting) return 0;
  if (isWrong(row, now, seen)) return 1;
  return row.live ? 2 : 3;
}

/**
 * Waiting, then wrong, then live by activity, then ended with the latest first.
 *
 * @param {Iterable<Row>} rows
 * @param {number} now  milliseconds
 * @param {(id: string) => boolean} seen  whether a person has opened this run since it ended
 * @returns {Row[]}
 */
export function ordered(rows, now, seen) {
  return [...rows].sort((a, b) => {
    const by = rank(a, now, seen) - rank(b, now, seen);
    if (by) return by;
    if (a.live && b.live) {
      return activity(b) - activity(a) || Date.parse(b.started_at) - Date.parse(a.started_at) || (a.id < b.id ? -1 : 1);
    }
    return endedAt(b) - endedAt(a) || (a.id < b.id ? -1 : 1);
  });
}

/**
 * `next` in the places that `before` gave: what a pointer or a focus is on does not move away.
 *
 * @param {string[]} before  ids in their places
 * @param {Row[]} next
 * @returns {Row[]}
 */
export function inPlace(before, next) {
  const places = new Map(before.map((id, place) => [id, place]));
  const last = before.length;
  return [...next].sort((a, b) => (places.get(a.id) ?? last) - (places.get(b.id) ?? last));
}

/** @param {Row} row @param {string} words  matched each, anywhere in name, id, command, folder or state */
export function matches(row, words) {
  const text = `${row.name} ${row.id} ${row.command.join(" ")} ${row.cwd} ${row.status} ${row.waiting ?? ""}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** @param {Iterable<Row>} rows @param {number} now */
export function tally(rows, now) {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  let running = 0;
  let waiting = 0;
  let endedToday = 0;
  for (const row of rows) {
    if (row.waiting) waiting += 1;
    else if (row.live) running += 1;
    else if (endedAt(row) >= midnight) endedToday += 1;
  }
  return { running, waiting, endedToday };
}
