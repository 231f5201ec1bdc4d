/** The connection line: what is true of what a person sees, in words (WG-COUNTED). Pure. */

import { count, number, size } from "./words.js";

/** @import { Position } from "../wire/position.js" */

/** @typedef {{ tone: "live" | "busy" | "lost" | "over", text: string, detail: string }} Claim */

/** Characters that wait to be shown, past which a person is told. */
const NOTICEABLE = 400_000;

/**
 * @param {Position} position
 * @param {number} now  milliseconds
 * @param {{ interrupted: boolean, backlog: number }} run  whether its server is gone without having ended it, and how
 *   many characters have come that are not shown yet
 * @returns {Claim}
 */
export function claimOf(position, now, run) {
  const event = `event ${number(position.cursor)}`;
  switch (position.phase) {
    case "opening":
      return { tone: "busy", text: "opening", detail: "" };
    case "resuming":
      return { tone: "busy", text: `resuming from ${number(position.cursor)}`, detail: kept(position) };
    case "catching-up": {
      const behind = position.latest - position.cursor;
      return { tone: "busy", text: `behind ${count(behind, "event")}, catching up`, detail: kept(position) };
    }
    case "retrying": {
      const seconds = Math.max(0, Math.ceil((position.retryAt - now) / 1000));
      const why = position.error || "gateway unreachable";
      return { tone: "lost", text: `${why}, retrying in ${seconds} s`, detail: `shown up to ${event}` };
    }
    case "parked":
      return { tone: "busy", text: "holding back until this is shown", detail: `up to ${event}` };
    case "refused":
      return { tone: "lost", text: "not allowed any more: run hopline web and open its URL", detail: "" };
    case "failed":
      return { tone: "lost", text: position.error, detail: "" };
    case "ended":
      if (run.interrupted) return { tone: "over", text: "its server is gone", detail: `recorded up to ${event}` };
      return { tone: "over", text: "ended", detail: `${event} · ${kept(position)}` };
    case "live":
      if (run.backlog > NOTICEABLE) {
        return { tone: "busy", text: `behind ${size(run.backlog)}, catching up`, detail: kept(position) };
      }
      return { tone: "live", text: "live", detail: `${event} · ${kept(position)}` };
  }
}

/** @param {Position} position @returns {string} whether anything is missing from what was shown since the page opened */
function kept(position) {
  if (position.missed) return `${count(position.missed, "event")} missing from the journal`;
  switch (position.restarted) {
    case "store":
      return "restarted from the tail because the store changed";
    case "tail":
      return "restarted from the tail because too much came at once";
    case "skipped":
      return position.skipped ? `skipped ${count(position.skipped, "event")} to stay live` : "missed nothing";
    default:
      return position.reconnects ? "reconnected, missed nothing" : "missed nothing";
  }
}
