import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const { Agents } = await import("../../../src/hopline/web/state/agents.js");
const { KEPT_EXECUTIONS } = await import("../../../src/hopline/web/state/executions.js");

const CORPUS = new URL("../../conformance/client/", import.meta.url);
const fixture = (folder, kind) => JSON.parse(readFileSync(new URL(`${folder}/${kind}.json`, CORPUS)));
const at = (second) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

/** An event of the corpus, with these members of its payload and envelope instead. */
function event(sequence, kind, data = {}, more = {}) {
  const payload = fixture("payloads", kind)[0];
  return { ...fixture("events", kind), sequence, timestamp: at(sequence), data: payload && { ...payload, ...data }, ...more };
}

function folded(events) {
  const agents = new Agents();
  for (const one of events) agents.take(one);
  return agents;
}

const TURN = [
  event(1, "agent_execution_started"),
  event(2, "agent_execution_activity_changed", { mode: "tool", summary: "Testing", tool: "bash" }),
  event(3, "agent_output_chunk", { content: "first " }),
  event(4, "tool_call"),
  event(5, "tool_result", { content: "12 passed" }),
  event(6, "agent_output_chunk", { content: "second" }),
  event(7, "turn_usage_recorded"),
  event(8, "agent_execution_finished"),
];

test("a turn is what its events say, in whatever order they come", () => {
  const [forward] = folded(TURN).executions.all.values();
  assert.equal(forward.state, "completed");
  assert.equal(forward.activity.summary, "Testing");
  assert.deepEqual(forward.said.map((piece) => piece.text), ["first ", "second"]);
  assert.deepEqual(forward.calls.map((call) => [call.tool, call.result]), [["bash", "12 passed"]]);
  assert.equal(forward.startedAt, at(1));
  assert.equal(forward.endedAt, at(8));
  // What is above the tail comes later than what is below it, each page in its own order.
  const [paged] = folded([...TURN.slice(5), ...TURN.slice(0, 5)]).executions.all.values();
  assert.deepEqual(paged, { ...forward, context: paged.context });
});

test("who is at work is what the list says, until the run is over", () => {
  const agents = folded(TURN.slice(0, 3));
  const entry = { execution_id: "exec-9", agent_kind: "judge", round_label: "round 2", stage: "judge", attempt: null, assignment: "Judge it." };
  agents.listed([{ ...entry, started_at: at(0), activity: { mode: "waiting", summary: "allow `git push`?", tool: null } }]);
  assert.deepEqual(agents.executions.active.map((one) => one.id), ["exec-9"]);
  assert.equal(agents.executions.all.get("exec-1").state, "ended");
  assert.equal(agents.question, "allow `git push`?");
  agents.end();
  assert.deepEqual(agents.executions.active, []);
  assert.equal(agents.question, null);
});

test("a trace is a tree in which everything below counts", () => {
  const span = (id, parent_id, more = {}) => ({ ...fixture("payloads", "span_started")[0].span, id, parent_id, label: null, name: id, invocation: null, ...more });
  const agents = folded([
    event(1, "span_started", { span: span("root", null) }),
    event(2, "span_started", { span: span("turn", "root", { invocation: "inv-1" }) }),
    event(3, "agent_execution_started", {}, { execution_id: "inv-1" }),
    event(4, "turn_usage_recorded", { span_id: "turn", cost_usd: 0.25 }),
    event(5, "turn_usage_recorded", { span_id: null, cost_usd: 0.5 }, { execution_id: "inv-1", span_id: null }),
    event(6, "span_ended", { span: span("turn", "root", { invocation: "inv-1", status: "failed", failure: { kind: "outcome", message: "no" }, ended_at: at(9) }) }),
    event(7, "agent_execution_started", {}, { execution_id: "alone", agent_kind: "chat" }),
  ]);
  const [alone, root] = [...agents.tree].sort((a, b) => a.steps.length - b.steps.length);
  assert.equal(alone.title, "chat: implement, attempt 1");
  assert.equal(root.spent.cost, 0.75);
  assert.equal(root.spent.tokens, 3000);
  assert.deepEqual(root.steps.map((step) => [step.title, step.words, step.detail]), [["turn", "failed", "no"]]);
});

test("a span is what the newest event or snapshot says of it", () => {
  const span = (id, status) => ({ ...fixture("payloads", "span_started")[0].span, id, parent_id: null, status });
  const agents = folded([event(9, "span_ended", { span: span("a", "done") })]);
  const snapshot = { sequence: 5, spans: [span("before", "done"), span("a", "running")], chat_threads: [] };
  agents.takeSnapshot(snapshot);
  const states = () => [...agents.trace.spans].map(([id, { span }]) => [id, span.status]);
  assert.deepEqual(states(), [["before", "done"], ["a", "done"]]);
  agents.take(event(4, "span_started", { span: span("a", "running") }));
  assert.deepEqual(states(), [["before", "done"], ["a", "done"]]);
});

test("damage in a trace ends nothing: a span that is its own parent, one whose parent is not there", () => {
  const span = (id, parent_id) => ({ ...fixture("payloads", "span_started")[0].span, id, parent_id });
  const agents = folded([
    event(1, "span_started", { span: span("self", "self") }),
    event(2, "span_started", { span: span("orphan", "nowhere") }),
    event(3, "span_started", { span: { id: 7 } }),
  ]);
  assert.deepEqual(agents.tree.map((step) => step.key), ["self", "orphan"]);
});

test("what stands between the turns is in the words of its event", () => {
  const agents = folded([
    event(1, "chat"),
    event(2, "control", {}, { text: "/steer: <b>look</b> there", status: "pending", data: null }),
    event(3, "control", {}, { text: "/steer", status: "consumed", data: null }),
    event(4, "round_finished"),
    event(5, "judge_result", { verdict: "fail", feedback: "slower" }),
    event(6, "provider_switched", { from_provider: "a", to_provider: "b" }),
  ]);
  assert.deepEqual(agents.story.map(({ title, text }) => `${title}: ${text}`).reverse(), [
    "why did round 2 regress?: Because the cache was cold.",
    "steered: <b>look</b> there",
    "round 1 finished: pass after 2 attempts, 1,234.5 req/s",
    "round 1: judge says fail: slower",
    `a gave way to b: ${fixture("payloads", "provider_switched")[0].detail}`,
  ]);
});

test("no kind of event breaks the fold, with any payload of the corpus or none", () => {
  const agents = new Agents();
  let sequence = 0;
  for (const name of readdirSync(new URL("events/", CORPUS))) {
    const kind = name.replace(".json", "");
    for (const data of [...fixture("payloads", kind), null, {}, { kind, span: null, todos: null, args: [] }]) {
      sequence += 1;
      agents.take({ ...fixture("events", kind), sequence, data });
    }
  }
  assert.ok(agents.story.length > 5);
  assert.ok(agents.tree.length > 0);
});

test("what is kept is bounded, and who is at work is not forgotten", () => {
  const agents = new Agents();
  agents.take(event(1, "agent_execution_started", {}, { execution_id: "active" }));
  for (let sequence = 2; sequence < 3 * KEPT_EXECUTIONS; sequence += 1) {
    agents.take(event(sequence, "agent_execution_finished", {}, { execution_id: `exec-${sequence}` }));
    agents.take(event(sequence, "agent_output_chunk", { content: "x".repeat(9000) }, { execution_id: "active" }));
  }
  assert.ok(agents.executions.all.size <= KEPT_EXECUTIONS * 1.25);
  assert.equal(agents.executions.active.length, 1);
  assert.ok(agents.executions.all.get("active").said.length < 3);
  assert.ok(agents.executions.forgotten > 0);
});
