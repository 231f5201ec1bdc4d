/**
 * Agents' executions, one for each turn that an agent takes, folded from events and from the stream's list of who is at
 * work. Pure. Events may come in any order: what is above the tail is loaded later than what is below it.
 */

/** @import { ActiveExecution, RunEvent } from "../wire/types.js" */

/**
 * @typedef {{ sequence: number, channel: string, text: string }} Said
 * @typedef {{ sequence: number, tool: string, callId: string | null, args: string, result: string | null, isError: boolean }} Call
 * @typedef {{ mode: string, summary: string, tool: string | null, sequence: number }} Activity
 *
 * @typedef {object} Execution
 * @property {string} id
 * @property {number} sequence  of its first event that is known; 0 when only the list names it
 * @property {string} agent
 * @property {string} round
 * @property {string} stage
 * @property {number | null} attempt
 * @property {string} assignment
 * @property {string} provider
 * @property {string} model
 * @property {string | null} spanId
 * @property {string | null} startedAt
 * @property {string | null} endedAt
 * @property {string} state  active, completed, failed, cancelled, interrupted, ended (nobody said how), or newer words
 * @property {string | null} error
 * @property {string | null} result
 * @property {Activity | null} activity
 * @property {Said[]} said  the newest, oldest first
 * @property {Call[]} calls  the newest, oldest first
 * @property {number} called  how many tools it has called, of the events that were loaded
 * @property {{ used: number, window: number | null } | null} context
 * @property {{ content: string, status: string }[]} todos
 */

export const KEPT_EXECUTIONS = 400;
const KEPT_CALLS = 40;
const KEPT_SAID = 12_000;
const MAX_TEXT = 4000;

const OF_AGENTS = new Set([
  "agent_execution_started",
  "agent_execution_activity_changed",
  "agent_execution_finished",
  "agent_output_chunk",
  "tool_call",
  "tool_result",
  "todo_update",
  "usage_update",
]);

export class Executions {
  /** @type {Map<string, Execution>} */
  all = new Map();
  /** How many were forgotten, oldest first. */
  forgotten = 0;

  reset() {
    this.all = new Map();
    this.forgotten = 0;
  }

  get active() {
    return [...this.all.values()].filter((execution) => execution.state === "active");
  }

  /** @param {RunEvent} event @returns {boolean} whether it says something of an execution */
  take(event) {
    const id = event.execution_id ?? event.invocation_id;
    if (!id || !OF_AGENTS.has(event.type)) return false;
    const execution = this.#named(id, event);
    const data = /** @type {any} */ (event.data) ?? {};
    switch (event.type) {
      case "agent_execution_started":
        started(execution, data);
        execution.startedAt = event.timestamp;
        this.#moved(execution, data.activity, event.sequence);
        break;
      case "agent_execution_activity_changed":
        this.#moved(execution, data, event.sequence);
        break;
      case "agent_execution_finished":
        execution.endedAt = event.timestamp;
        execution.state = event.status ?? (data.error ? "failed" : "completed");
        execution.error = text(data.error) || (event.diagnostic?.summary ?? null);
        execution.result = data.result === null || data.result === undefined ? null : shortened(data.result);
        break;
      case "agent_output_chunk":
        said(execution, { sequence: event.sequence, channel: text(data.channel), text: text(data.content) });
        break;
      case "tool_call":
        called(execution, event.sequence, data);
        break;
      case "tool_result":
        answered(execution, event.sequence, data);
        break;
      case "todo_update":
        if (Array.isArray(data.todos)) execution.todos = data.todos;
        break;
      case "usage_update":
        execution.context = { used: Number(data.input_tokens) || 0, window: data.context_window ?? null };
        if (data.model) execution.model = text(data.model);
    }
    this.#forget();
    return true;
  }

  /** Who is at work, as of the events that were taken. @param {ActiveExecution[]} list */
  listed(list) {
    const names = new Set(list.map((entry) => entry.execution_id));
    for (const execution of this.all.values()) {
      if (execution.state === "active" && !names.has(execution.id)) execution.state = "ended";
    }
    for (const entry of list) {
      const execution = this.all.get(entry.execution_id) ?? blank(entry.execution_id, 0);
      this.all.set(execution.id, execution);
      started(execution, { ...entry, user_prompt: entry.assignment });
      execution.agent = text(entry.agent_kind);
      execution.round = text(entry.round_label);
      execution.startedAt = entry.started_at;
      this.#moved(execution, entry.activity, execution.activity?.sequence ?? 0);
      if (execution.state === "ended") execution.state = "active";
    }
  }

  /** The run is over, and nobody is at work any more. */
  end() {
    for (const execution of this.all.values()) if (execution.state === "active") execution.state = "ended";
  }

  /** @param {string} id @param {RunEvent} event */
  #named(id, event) {
    const execution = this.all.get(id) ?? blank(id, event.sequence);
    this.all.set(id, execution);
    if (!execution.sequence || event.sequence < execution.sequence) execution.sequence = event.sequence;
    execution.agent ||= text(event.agent_kind);
    execution.round ||= text(event.round_label);
    execution.spanId ??= event.span_id ?? null;
    return execution;
  }

  /** @param {Execution} execution @param {any} activity @param {number} sequence */
  #moved(execution, activity, sequence) {
    if (!activity || (execution.activity && execution.activity.sequence > sequence)) return;
    execution.activity = { mode: text(activity.mode), summary: text(activity.summary), tool: activity.tool ?? null, sequence };
  }

  #forget() {
    if (this.all.size <= KEPT_EXECUTIONS * 1.25) return;
    const over = [...this.all.values()].filter((one) => one.state !== "active").sort((a, b) => a.sequence - b.sequence);
    for (const { id } of over.slice(0, this.all.size - KEPT_EXECUTIONS)) {
      this.all.delete(id);
      this.forgotten += 1;
    }
  }
}

/** @param {string} id @param {number} sequence @returns {Execution} */
function blank(id, sequence) {
  const words = { agent: "", round: "", stage: "", assignment: "", provider: "", model: "", state: "active" };
  const open = { attempt: null, spanId: null, startedAt: null, endedAt: null, error: null, result: null };
  return { id, sequence, ...words, ...open, activity: null, said: [], calls: [], called: 0, context: null, todos: [] };
}

/** @param {Execution} execution @param {any} data */
function started(execution, data) {
  execution.stage = text(data.stage) || execution.stage;
  execution.attempt = data.attempt ?? execution.attempt;
  execution.assignment = shortened(data.user_prompt ?? "") || execution.assignment;
  execution.provider = text(data.provider) || execution.provider;
  execution.model = text(data.model) || execution.model;
}

/** @param {Execution} execution @param {Said} piece */
function said(execution, piece) {
  if (!piece.text || piece.channel === "prompt") return;
  const last = execution.said.at(-1);
  execution.said.push(piece);
  if (last && last.sequence > piece.sequence) execution.said.sort((a, b) => a.sequence - b.sequence);
  let length = execution.said.reduce((sum, one) => sum + one.text.length, 0);
  while (length > KEPT_SAID && execution.said.length > 1) length -= /** @type {Said} */ (execution.said.shift()).text.length;
}

/** @param {Execution} execution @param {number} sequence @param {any} data */
function called(execution, sequence, data) {
  execution.called += 1;
  const call = { sequence, tool: text(data.tool), callId: data.call_id ?? null, args: argumentsOf(data.args), result: null, isError: false };
  execution.calls.push(call);
  execution.calls.sort((a, b) => a.sequence - b.sequence);
  if (execution.calls.length > KEPT_CALLS) execution.calls.shift();
}

/** @param {Execution} execution @param {number} sequence @param {any} data  of the call that it names, else of the latest open one */
function answered(execution, sequence, data) {
  const open = execution.calls.filter((call) => call.sequence < sequence && call.result === null && call.tool === data.tool);
  const call = open.find((one) => one.callId !== null && one.callId === data.call_id) ?? open.at(-1);
  if (!call) return;
  call.result = shortened(data.content ?? "");
  call.isError = Boolean(data.is_error);
}

/** @param {unknown} args @returns {string} a command as it is, anything else as JSON */
function argumentsOf(args) {
  const command = /** @type {any} */ (args)?.command;
  return shortened(typeof command === "string" ? command : args);
}

/** @param {unknown} value */
function shortened(value) {
  const whole = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return whole.length > MAX_TEXT ? `${whole.slice(0, MAX_TEXT)}…` : whole;
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "string" ? value : "";
}
