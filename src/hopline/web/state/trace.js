/**
 * What a run did, as a tree: its spans, and the executions that belong to no span, with what each cost. Pure.
 *
 * Spans come whole with a snapshot and change by events; a span is what its newest event or snapshot says.
 */

/** @import { RunEvent, RunSnapshot, Span } from "../wire/types.js" */
/** @import { Execution, Executions } from "./executions.js" */

/**
 * @typedef {{ tokens: number, cost: number | null }} Spent
 * @typedef {Spent & { sequence: number, spanId: string | null, executionId: string | null }} Usage
 *
 * @typedef {object} Step  one line of the tree
 * @property {string} key
 * @property {string} title
 * @property {string} kind
 * @property {string} state  running, waiting, done, failed, stopped, or an execution's
 * @property {string} words  its state for a person
 * @property {string} detail  what it does, waits for, or failed of
 * @property {string | null} startedAt
 * @property {string | null} endedAt
 * @property {Spent} spent  with everything below it
 * @property {Step[]} steps
 */

export const KEPT_SPANS = 5000;
const KEPT_USAGES = 20_000;

export class Trace {
  /** @type {Map<string, { span: Span, sequence: number }>} in the order in which they first came */
  spans = new Map();
  /** @type {Map<number, Usage>} by sequence */
  usages = new Map();
  /** @type {Spent | null} */
  #spent = null;

  reset() {
    this.#spent = null;
    this.spans = new Map();
    this.usages = new Map();
  }

  /** @param {RunEvent} event @returns {boolean} whether it says something of the trace */
  take(event) {
    const data = /** @type {any} */ (event.data) ?? {};
    switch (event.type) {
      case "span_started":
      case "span_updated":
      case "span_ended":
        return this.#span(data.span, event.sequence);
      case "turn_usage_recorded":
        if (this.usages.size < KEPT_USAGES) this.usages.set(event.sequence, usageOf(event, data));
        this.#spent = null;
        return true;
      default:
        return false;
    }
  }

  /** @param {RunSnapshot} snapshot  the fold of every event up to its sequence */
  takeSnapshot(snapshot) {
    const before = this.spans;
    this.spans = new Map();
    for (const span of snapshot.spans ?? []) this.#span(span, snapshot.sequence);
    for (const [id, known] of before) {
      const told = this.spans.get(id);
      if (!told || known.sequence > told.sequence) this.spans.set(id, known);
    }
  }

  /** @param {Span | undefined} span @param {number} sequence */
  #span(span, sequence) {
    if (!span || typeof span.id !== "string") return false;
    const known = this.spans.get(span.id);
    if (!known && this.spans.size >= KEPT_SPANS) return true;
    if (!known || known.sequence <= sequence) this.spans.set(span.id, { span, sequence });
    return true;
  }

  /** @returns {Spent} of everything that was loaded */
  get spent() {
    return (this.#spent ??= sum([...this.usages.values()]));
  }

  /** @param {Executions} executions @returns {Step[]} the roots, oldest first */
  tree(executions) {
    /** @type {Map<string, Usage[]>} */
    const bySpan = new Map();
    /** @type {Map<string, Usage[]>} */
    const byExecution = new Map();
    for (const usage of this.usages.values()) {
      if (usage.spanId !== null && this.spans.has(usage.spanId)) put(bySpan, usage.spanId, usage);
      else if (usage.executionId !== null) put(byExecution, usage.executionId, usage);
    }
    const turns = new Map([...executions.all.values()].map((execution) => [execution.id, execution]));
    /** @type {Map<string, Step>} */
    const steps = new Map();
    for (const { span } of this.spans.values()) {
      const turn = span.invocation === null ? undefined : turns.get(span.invocation);
      if (turn) turns.delete(turn.id);
      steps.set(span.id, stepOfSpan(span, turn, [...(bySpan.get(span.id) ?? []), ...(turn ? (byExecution.get(turn.id) ?? []) : [])]));
    }
    /** @type {Step[]} */
    const roots = [];
    for (const { span } of this.spans.values()) {
      const step = /** @type {Step} */ (steps.get(span.id));
      const parent = span.parent_id === null || span.parent_id === span.id ? undefined : steps.get(span.parent_id);
      (parent?.steps ?? roots).push(step);
    }
    for (const turn of turns.values()) {
      const parent = turn.spanId === null ? undefined : steps.get(turn.spanId);
      (parent?.steps ?? roots).push(stepOfExecution(turn, byExecution.get(turn.id) ?? []));
    }
    inOrder(roots);
    for (const root of roots) add(root, 0);
    return roots;
  }
}

/** How deep a tree is followed; a parent comes earlier than its child, so that only damage is deeper. */
export const MAX_DEPTH = 64;

/** @param {Step[]} steps */
function inOrder(steps) {
  const at = (/** @type {Step} */ step) => (step.startedAt ? Date.parse(step.startedAt) : 0);
  steps.sort((a, b) => at(a) - at(b));
}

/** What is below counts too. @param {Step} step @param {number} depth @returns {Spent} */
function add(step, depth) {
  inOrder(step.steps);
  if (depth < MAX_DEPTH) step.spent = sum([step.spent, ...step.steps.map((below) => add(below, depth + 1))]);
  return step.spent;
}

/** @param {Span} span @param {Execution | undefined} turn @param {Usage[]} usages @returns {Step} */
function stepOfSpan(span, turn, usages) {
  const { label, failure } = span;
  const verdict = label?.verdict ? `, ${label.verdict.replaceAll("_", " ")}` : "";
  const doing = turn?.state === "active" ? (turn.activity?.summary ?? "") : "";
  const waits = span.status === "waiting" ? (span.waiting_on ?? []).map((wait) => wait.detail ?? `for ${wait.kind}`).join("; ") : "";
  return {
    key: span.id,
    title: label?.title || span.name || span.id,
    kind: (label?.kind ?? "").replaceAll("_", " "),
    state: span.status,
    words: `${span.status}${verdict}`,
    detail: failure?.message || waits || doing,
    startedAt: span.started_at,
    endedAt: span.ended_at,
    spent: sum(usages),
    steps: [],
  };
}

/** @param {Execution} turn @param {Usage[]} usages @returns {Step} */
function stepOfExecution(turn, usages) {
  return {
    key: `execution ${turn.id}`,
    title: titleOf(turn),
    kind: turn.round,
    state: turn.state,
    words: turn.state === "active" ? (turn.activity?.mode ?? "at work") : turn.state,
    detail: turn.error ?? (turn.state === "active" ? (turn.activity?.summary ?? "") : ""),
    startedAt: turn.startedAt,
    endedAt: turn.endedAt,
    spent: sum(usages),
    steps: [],
  };
}

/** @param {Execution} turn */
export function titleOf(turn) {
  const attempt = turn.attempt === null ? "" : `, attempt ${turn.attempt}`;
  return `${turn.agent || "agent"}${turn.stage && turn.stage !== turn.agent ? `: ${turn.stage}` : ""}${attempt}`;
}

/** @param {RunEvent} event @param {any} data @returns {Usage} */
function usageOf(event, data) {
  return {
    sequence: event.sequence,
    spanId: data.span_id ?? event.span_id ?? null,
    executionId: event.execution_id ?? event.invocation_id ?? null,
    tokens: (Number(data.input_tokens) || 0) + (Number(data.output_tokens) || 0),
    cost: typeof data.cost_usd === "number" ? data.cost_usd : null,
  };
}

/** @param {Spent[]} parts @returns {Spent} */
function sum(parts) {
  let tokens = 0;
  /** @type {number | null} */
  let cost = null;
  for (const part of parts) {
    tokens += part.tokens;
    if (part.cost !== null) cost = (cost ?? 0) + part.cost;
  }
  return { tokens, cost };
}

/** @param {Map<string, Usage[]>} map @param {string} key @param {Usage} usage */
function put(map, key, usage) {
  const list = map.get(key);
  if (list) list.push(usage);
  else map.set(key, [usage]);
}
