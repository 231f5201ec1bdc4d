/**
 * What is proven of each thing that was asked, in steps with their times. Pure.
 *
 * A step is reached when the run said so, never because an earlier one was or because time has passed.
 */

/** @import { Control, RunState } from "./run.js" */

/**
 * What this page asked and how far its own requests have come; what others asked shows by its events alone.
 *
 * @typedef {object} Asked
 * @property {"interrupt" | "stop" | "restart" | "input" | "pause" | "resume" | "steer" | "resize"} action
 * @property {string} at
 * @property {string | null} acceptedAt  when the Response came
 * @property {string | null} deliveredAt  the same, when it said that all of it is in the worker's input
 * @property {string | null} error
 * @property {number} generation  the worker's, when it was asked
 *
 * @typedef {{ label: string, at: string | null }} Step
 * @typedef {{ title: string, count: number, steps: Step[], error: string | null }} Proof
 */

/**
 * The latest control of one action as its events tell it.
 *
 * @param {RunState} run
 * @param {string} action
 * @returns {{ pending: Control | null, proven: Control | null, failed: Control | null }}
 */
function latest(run, action) {
  /** @type {Control | null} */
  let pending = null;
  /** @type {Control | null} */
  let proven = null;
  /** @type {Control | null} */
  let failed = null;
  for (const control of run.controls) {
    if (control.action !== action) continue;
    if (control.status === "pending") {
      pending = control;
      proven = failed = null;
    } else if (control.status === "failed" || control.status === "cancelled") failed = control;
    else proven = control;
  }
  return { pending, proven, failed };
}

/**
 * @param {RunState} run
 * @param {Asked | undefined} asked  the latest of this action that this page sent
 * @param {"interrupt" | "stop" | "restart" | "input" | "pause" | "resume" | "steer"} action
 * @returns {Proof | null} null when nobody asked
 */
export function proofOf(run, asked, action) {
  const told = latest(run, action);
  const first = told.pending ?? told.proven ?? told.failed;
  const askedAt = asked?.at ?? first?.at ?? null;
  if (askedAt === null) return null;
  // An event of before it was asked belongs to an earlier request.
  const since = Date.parse(askedAt) - CLOCK_SLACK_MILLIS;
  const after = (/** @type {string | null | undefined} */ at) => (at && Date.parse(at) >= since ? at : null);
  const acceptedAt = after(told.pending?.at) ?? asked?.acceptedAt ?? null;
  const error = asked?.error ?? (after(told.failed?.at) ? (told.failed?.error ?? "it failed") : null);
  const count = run.delivered[action] ?? 0;
  const steps = [
    { label: "asked", at: askedAt },
    { label: "accepted", at: acceptedAt },
  ];
  const { worker } = run;
  const from = acceptedAt ? Date.parse(acceptedAt) : Infinity;
  const later = (/** @type {string | null | undefined} */ at) => (at && Date.parse(at) >= from ? at : null);
  switch (action) {
    case "interrupt":
      steps.push({ label: "delivered", at: after(told.proven?.at) });
      break;
    case "input":
      steps.push({ label: "delivered", at: asked?.deliveredAt ?? null });
      break;
    case "stop":
      steps.push({ label: "worker ended", at: later(worker?.endedAt) });
      steps.push({ label: "descendants looked for", at: later(worker?.retiredAt) });
      steps.push({ label: "stopped", at: run.status === "stopped" ? (run.endedAt ?? after(told.proven?.at)) : null });
      break;
    case "pause":
      steps.push({ label: "pausing", at: after(run.since.pausing) });
      steps.push({ label: "paused", at: after(run.since.paused) });
      break;
    case "resume":
      steps.push({ label: "taken up", at: after(told.proven?.at) });
      steps.push({ label: "running", at: after(run.since.running) });
      break;
    case "steer":
      steps.push({ label: "recorded", at: after(told.pending?.at) });
      steps.push({ label: "taken by the agent", at: after(told.proven?.at) });
      break;
    case "restart":
      steps.push({ label: "started again", at: after(told.proven?.at) ?? later(worker?.startedAt) });
      break;
  }
  return { title: action, count, steps, error };
}

/** The run's clock and the page's may differ by this much without a step being taken for an earlier request's. */
const CLOCK_SLACK_MILLIS = 2000;

/** @param {Proof} proof */
export function isPending(proof) {
  return proof.error === null && proof.steps.some((step) => step.at === null);
}
