/**
 * What is known of one run, folded from its events. Pure.
 *
 * Four facts are kept apart and never guessed from one another: an interrupt was delivered, the run stopped, the worker
 * exited or was signalled, its descendants are gone, remain, or are unknown (docs/guide, "What is proven").
 */

/** @import { RunEvent } from "../wire/types.js" */

/**
 * @typedef {object} Worker
 * @property {number} generation
 * @property {number | null} pid
 * @property {string | null} runner
 * @property {string | null} startedAt
 * @property {string | null} endedAt
 * @property {number | null} code
 * @property {number | null} signal
 * @property {string | null} retiredAt
 * @property {string | null} descendants  gone, remaining, unknown; null: not looked for yet
 * @property {string | null} how
 * @property {{ pid: number, name: string, started_at: string, start_time: number }[]} survivors
 *
 * @typedef {{ action: string, status: string, at: string, sequence: number, error: string | null }} Control
 *
 * @typedef {object} RunState
 * @property {string} status
 * @property {Worker | null} worker
 * @property {number} generations
 * @property {string} command  as the run_started event gives it
 * @property {string} loop  "command" for a run that is no agent
 * @property {string | null} startedAt
 * @property {string | null} ended  the event that ended the run
 * @property {string | null} endedAt
 * @property {string | null} reason
 * @property {Control[]} controls  the latest, oldest first
 * @property {Record<string, number>} delivered  how often each action was proven
 * @property {{ text: string, at: string } | null} warning  the latest
 * @property {Record<string, string>} since  when it last came into each status
 * @property {{ columns: number, rows: number } | null} size  of the worker's terminal, as it was last changed
 */

const ENDS = new Set(["run_finished", "run_failed", "run_interrupted", "configuration_failed"]);
export const KEPT_CONTROLS = 50;

/** @returns {RunState} */
export function emptyRun() {
  return {
    status: "starting",
    worker: null,
    generations: 0,
    command: "",
    loop: "command",
    startedAt: null,
    ended: null,
    endedAt: null,
    reason: null,
    controls: [],
    delivered: {},
    warning: null,
    since: {},
    size: null,
  };
}

/** @param {number} generation @returns {Worker} */
function newWorker(generation) {
  return {
    generation,
    pid: null,
    runner: null,
    startedAt: null,
    endedAt: null,
    code: null,
    signal: null,
    retiredAt: null,
    descendants: null,
    how: null,
    survivors: [],
  };
}

/**
 * @param {RunState} run
 * @param {RunEvent} event
 * @returns {RunState} the same object when nothing that is kept has changed
 */
export function fold(run, event) {
  const data = /** @type {any} */ (event.data);
  if (ENDS.has(event.type)) {
    const reason = event.diagnostic?.summary ?? (event.text || data?.reason || null);
    return { ...run, ended: event.type, endedAt: event.timestamp, reason };
  }
  switch (event.type) {
    case "run_started":
      return { ...run, command: text(data?.input), loop: text(data?.outer_loop), startedAt: event.timestamp };
    case "run_status_changed":
      return { ...run, status: text(data?.status), since: { ...run.since, [text(data?.status)]: event.timestamp } };
    case "worker_started":
      return {
        ...run,
        generations: Math.max(run.generations, data.generation),
        worker: { ...newWorker(data.generation), pid: data.pid, runner: data.runner, startedAt: event.timestamp },
      };
    case "worker_exited":
      return withWorker(run, data.generation, { code: data.code, endedAt: event.timestamp });
    case "worker_signaled":
      return withWorker(run, data.generation, { signal: data.signal, endedAt: event.timestamp });
    case "worker_retired":
      return withWorker(run, data.generation, {
        retiredAt: event.timestamp,
        descendants: text(data.descendants?.state),
        how: text(data.how),
        survivors: Array.isArray(data.descendants?.processes) ? data.descendants.processes : [],
      });
    case "control":
      return controlled(run, event);
    case "framework_warning":
      return { ...run, warning: { text: text(data?.summary), at: event.timestamp } };
    default:
      return run;
  }
}

/** @param {RunState} run @param {RunEvent} event @returns {RunState} */
function controlled(run, event) {
  const action = event.text.startsWith("/") ? (event.text.slice(1).split(/[:\s]/)[0] ?? "") : event.text;
  const status = event.status ?? "";
  const control = {
    action,
    status,
    at: event.timestamp,
    sequence: event.sequence,
    error: event.diagnostic?.summary ?? null,
  };
  const proven = status === "delivered" || status === "consumed";
  const resized = /^\/resize (\d+)x(\d+)$/.exec(event.text);
  if (resized) return { ...run, size: { columns: Number(resized[1]), rows: Number(resized[2]) } };
  return {
    ...run,
    controls: [...run.controls, control].slice(-KEPT_CONTROLS),
    delivered: proven ? { ...run.delivered, [action]: (run.delivered[action] ?? 0) + 1 } : run.delivered,
  };
}

/** @param {RunState} run @param {number} generation @param {Partial<Worker>} changes @returns {RunState} */
function withWorker(run, generation, changes) {
  const worker = run.worker?.generation === generation ? run.worker : newWorker(generation);
  return { ...run, generations: Math.max(run.generations, generation), worker: { ...worker, ...changes } };
}

/** @param {unknown} value @returns {string} */
function text(value) {
  return typeof value === "string" ? value : "";
}

/** @param {RunState} run */
export function isOver(run) {
  return run.ended !== null;
}

/** Whether an agent's loop runs it, which can be paused, resumed and steered; a plain command cannot. @param {RunState} run */
export function isSteerable(run) {
  return run.loop !== "" && run.loop !== "command";
}
