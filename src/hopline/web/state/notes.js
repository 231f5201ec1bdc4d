/** What stands between the turns of a run: questions and answers, steering, verdicts, measurements, waits. Pure. */

import { number } from "./words.js";

/** @import { RunEvent } from "../wire/types.js" */

/**
 * @typedef {object} Note
 * @property {number} sequence
 * @property {string} at
 * @property {"chat" | "steer" | "round" | "result" | "wait"} kind
 * @property {string} title
 * @property {string} text
 * @property {boolean} wrong
 * @property {string | null} thread  of a question
 */

const KEPT = 500;

export class Notes {
  /** @type {Map<number, Note>} by sequence */
  all = new Map();

  reset() {
    this.all = new Map();
  }

  /** @param {RunEvent} event @returns {boolean} whether it is one */
  take(event) {
    const note = noteOf(event);
    if (!note) return false;
    this.all.set(event.sequence, note);
    if (this.all.size > KEPT * 1.25) {
      const oldest = [...this.all.keys()].sort((a, b) => a - b).slice(0, this.all.size - KEPT);
      for (const sequence of oldest) this.all.delete(sequence);
    }
    return true;
  }
}

/** @param {RunEvent} event @returns {Note | null} */
export function noteOf(event) {
  const data = /** @type {any} */ (event.data) ?? {};
  const round = event.round_label ? `${event.round_label}: ` : "";
  const note = (/** @type {Note["kind"]} */ kind, /** @type {string} */ title, /** @type {unknown} */ said = "", wrong = false) => ({
    sequence: event.sequence,
    at: event.timestamp,
    kind,
    title,
    text: typeof said === "string" ? said : "",
    wrong,
    thread: event.chat_thread_id ?? null,
  });
  switch (event.type) {
    case "chat":
      return note("chat", event.text, data.answer);
    case "control":
      return steered(event.text) === null || event.status === "consumed" ? null : note("steer", "steered", steered(event.text), event.status === "cancelled");
    case "round_finished": {
      const metric = typeof data.perf_metric === "number" ? `, ${number(data.perf_metric)} ${data.perf_unit ?? ""}` : "";
      const attempts = typeof data.attempts === "number" ? ` after ${data.attempts} ${data.attempts === 1 ? "attempt" : "attempts"}` : "";
      return note("round", `${event.round_label ?? "round"} finished`, `${data.judge_verdict ?? ""}${attempts}${metric}`, data.judge_verdict === "fail");
    }
    case "judge_result":
      return note("result", `${round}judge says ${data.verdict}`, data.feedback, data.verdict === "fail");
    case "gate_finished": {
      const value = typeof data.value === "number" ? `${data.metric ?? "value"} ${number(data.value)} ${data.unit ?? ""}` : "";
      return note("result", `${round}${data.gate} ${event.status === "failed" ? "failed" : "passed"}`, value, event.status === "failed");
    }
    case "benchmark_result":
      return note("result", `${round}measured`, `${data.metric} ${number(Number(data.value))} ${data.unit ?? ""}`);
    case "quota_paused":
      return note("wait", `${data.provider} is at its limit`, data.detail, true);
    case "quota_waiting":
      return note("wait", `waits for ${data.provider}`);
    case "quota_resumed":
      return note("wait", `${data.provider} goes on`);
    case "quota_wait_cancelled":
      return note("wait", `no longer waits for ${data.provider}`);
    case "quota_abandoned":
      return note("wait", `gave ${data.provider} up`, data.detail, true);
    case "provider_switched":
      return note("wait", `${data.from_provider} gave way to ${data.to_provider}`, data.detail);
    default:
      return null;
  }
}

/** @param {string} text @returns {string | null} the words of a steer */
function steered(text) {
  return text.startsWith("/steer: ") ? text.slice("/steer: ".length) : null;
}
