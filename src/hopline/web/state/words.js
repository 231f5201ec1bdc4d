/** Figures and states in a person's words. Pure. */

/** @import { Row } from "../wire/types.js" */

/** @typedef {"waiting" | "wrong" | "running" | "paused" | "done" | "stopped"} Tone  shape and colour of a state */

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** @param {number} bytes @returns {string} three significant digits at most: 812 B, 4.2 kB, 1.3 GB */
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const shown = unit === 0 || value >= 9.95 ? Math.round(value).toString() : value.toFixed(1);
  return `${shown} ${UNITS[unit]}`;
}

/** @param {number} millis @returns {string} 8s, 12m, 3h 02m, 5d 4h */
export function age(millis) {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return `${seconds}s`;
  if (minutes < 60) return `${minutes}m`;
  if (hours < 24) return `${hours}h ${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** @param {number} millis @returns {string} one unit: 8s ago, 12m ago, 16h ago, 5d ago */
export function ago(millis) {
  const hours = Math.floor(millis / 3_600_000);
  if (hours < 1) return `${age(millis)} ago`;
  return hours < 48 ? `${hours}h ago` : `${Math.floor(hours / 24)}d ago`;
}

/** @param {number} millis @returns {string} with seconds: 12m 04s */
export function exactAge(millis) {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  if (seconds < 60 || seconds >= 3600) return age(millis);
  return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`;
}

const NUMBERS = new Intl.NumberFormat("en-US");

/** @param {number} value @returns {string} 48,213 */
export function number(value) {
  return NUMBERS.format(value);
}

/** @param {number} value @returns {string} $0.42, $0.0125 */
export function money(value) {
  return `$${value !== 0 && Math.abs(value) < 0.1 ? value.toPrecision(3).replace(/\.?0+$/, "") : value.toFixed(2)}`;
}

/** @param {number} value @param {string} [unit] @returns {string} 812 tokens, 4.2k tokens, 1.3M tokens */
export function tokens(value, unit = " tokens") {
  if (value < 1000) return `${value}${unit}`;
  const [scaled, letter] = value < 999_500 ? [value / 1000, "k"] : [value / 1e6, "M"];
  return `${scaled >= 99.5 ? Math.round(scaled) : scaled.toFixed(1)}${letter}${unit}`;
}

/** @param {number} value @param {string} one @param {string} [many] */
export function count(value, one, many = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** @param {string} time RFC 3339 @returns {string} 12:04:11, local */
export function clock(time) {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? "" : at.toLocaleTimeString("en-GB", { hour12: false });
}

/** @param {string} time RFC 3339 @returns {string} the whole local date and time, for a tooltip */
export function absolute(time) {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" });
}

/** @type {Record<number, string>} */
const SIGNALS = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
};

/** @param {number} value */
export function signalName(value) {
  return SIGNALS[value] ?? `signal ${value}`;
}

/** @param {string[]} command @returns {string} as a shell would read it */
export function shown(command) {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`))
    .join(" ");
}

/** @type {Record<string, Tone>} */
const TONES = {
  starting: "running",
  running: "running",
  pausing: "paused",
  paused: "paused",
  stopping: "stopped",
  stopped: "stopped",
  completed: "done",
  failed: "wrong",
  interrupted: "wrong",
};

/** @param {string} status @param {boolean} [waiting] @returns {Tone} */
export function toneOf(status, waiting = false) {
  return waiting ? "waiting" : (TONES[status] ?? "running");
}

/** @param {Row} row @returns {Tone} processes that it left behind make any ending wrong */
export function toneOfRow(row) {
  const left = !row.live && row.descendants === "remaining";
  return left ? "wrong" : toneOf(row.status, row.waiting !== null);
}

/** @param {{ status: string, exit_code: number | null, signal: number | null }} run @returns {string} */
export function outcome({ status, exit_code, signal }) {
  if (signal !== null) return `${status}: ${signalName(signal)}`;
  if (exit_code !== null && (exit_code !== 0 || status !== "completed")) return `${status}: exit ${exit_code}`;
  return status;
}

/** @param {Row} row @returns {string} its state in a sentence for the listing */
export function stateOf(row) {
  if (row.waiting) return `waiting: ${row.waiting}`;
  if (row.live && row.status !== "failed") return row.generation > 1 ? `${row.status}, generation ${row.generation}` : row.status;
  const words = row.status === "interrupted" ? "interrupted: its server is gone" : outcome(row);
  if (row.descendants === "remaining") {
    return `${words}, ${count(row.survivors, "process", "processes")} left behind`;
  }
  return row.descendants === "gone" && row.status === "failed" ? `${words}, descendants gone` : words;
}

/** Whether a person is asked something: what a run waits for is a question, or else a fact. @param {string | null | undefined} waiting */
export function isQuestion(waiting) {
  return typeof waiting === "string" && waiting.trimEnd().endsWith("?");
}
