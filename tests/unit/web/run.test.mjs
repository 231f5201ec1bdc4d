import assert from "node:assert/strict";
import { test } from "node:test";

const { emptyRun, fold, isOver, isSteerable } = await import("../../../src/hopline/web/state/run.js");
const { isPending, proofOf } = await import("../../../src/hopline/web/state/proven.js");

let sequence = 0;
const at = (second) => `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`;

function event(second, type, data = null, more = {}) {
  sequence += 1;
  const filled = data && { kind: type, ...data };
  return { sequence, run_id: "r", timestamp: at(second), type, text: "", diagnostic: null, status: null, data: filled, ...more };
}

const control = (second, text, status, more = {}) => event(second, "control", null, { text, status, ...more });
const folded = (...events) => events.reduce(fold, emptyRun());

const STARTED = [
  event(0, "run_started", { input: "cat", outer_loop: "command" }),
  event(0, "run_status_changed", { status: "running", previous: "starting" }),
  event(1, "worker_started", { generation: 1, pid: 42, runner: "direct", argv: ["cat"], cwd: "/" }),
];

test("the four facts are kept apart", () => {
  const running = folded(...STARTED);
  assert.equal(running.status, "running");
  assert.equal(running.worker.pid, 42);
  assert.equal(running.worker.code, null);
  assert.equal(running.worker.descendants, null);
  const exited = fold(running, event(2, "worker_exited", { generation: 1, code: 0 }));
  assert.equal(exited.worker.code, 0);
  assert.equal(exited.worker.descendants, null);
  assert.equal(exited.status, "running");
  assert.equal(isOver(exited), false);
  const survivor = { pid: 7, name: "node", started_at: at(1), start_time: 1.5 };
  const retired = fold(exited, event(3, "worker_retired", { generation: 1, how: "marker", descendants: { state: "remaining", processes: [survivor] } }));
  assert.deepEqual([retired.worker.descendants, retired.worker.survivors], ["remaining", [survivor]]);
});

test("an end says why", () => {
  const ended = folded(...STARTED, event(4, "run_failed", null, { diagnostic: { summary: "exit 2" } }));
  assert.deepEqual([isOver(ended), ended.ended, ended.reason], [true, "run_failed", "exit 2"]);
});

test("a new generation is a new worker", () => {
  const run = folded(...STARTED, event(2, "worker_exited", { generation: 1, code: 1 }), event(3, "worker_started", { generation: 2, pid: 43, runner: "direct" }));
  assert.deepEqual([run.worker.generation, run.worker.code, run.generations], [2, null, 2]);
});

test("what is not known changes nothing, and a broken payload breaks nothing", () => {
  const run = folded(...STARTED);
  assert.equal(fold(run, event(5, "something_newer", { x: 1 })), run);
  assert.equal(fold(run, event(5, "run_status_changed")).status, "");
  assert.deepEqual(fold(run, event(5, "worker_retired", { generation: 1 })).worker.survivors, []);
});

test("only an agent's loop can be steered", () => {
  assert.equal(isSteerable(folded(...STARTED)), false);
  assert.equal(isSteerable(folded(event(0, "run_started", { input: "x", outer_loop: "claude" }))), true);
});

const steps = (proof) => proof.steps.map((step) => [step.label, step.at]);
const asked = (action, second, more = {}) => ({ action, at: at(second), acceptedAt: null, deliveredAt: null, error: null, generation: 1, ...more });

test("nothing is proven of what nobody asked", () => assert.equal(proofOf(folded(...STARTED), undefined, "stop"), null));

test("an interrupt is asked, then accepted, then delivered, each by its own event", () => {
  const mine = asked("interrupt", 10);
  let run = folded(...STARTED);
  assert.deepEqual(steps(proofOf(run, mine, "interrupt")), [["asked", at(10)], ["accepted", null], ["delivered", null]]);
  run = fold(run, control(11, "/interrupt", "pending"));
  assert.deepEqual(steps(proofOf(run, mine, "interrupt")), [["asked", at(10)], ["accepted", at(11)], ["delivered", null]]);
  assert.equal(isPending(proofOf(run, mine, "interrupt")), true);
  run = fold(run, control(12, "/interrupt", "delivered"));
  assert.deepEqual(steps(proofOf(run, mine, "interrupt"))[2], ["delivered", at(12)]);
  assert.equal(proofOf(run, mine, "interrupt").count, 1);
  assert.equal(isPending(proofOf(run, mine, "interrupt")), false);
});

test("an earlier interrupt proves nothing of a later one", () => {
  const run = folded(...STARTED, control(2, "/interrupt", "pending"), control(3, "/interrupt", "delivered"));
  assert.deepEqual(steps(proofOf(run, asked("interrupt", 30), "interrupt")), [["asked", at(30)], ["accepted", null], ["delivered", null]]);
});

test("what another client asked shows as well", () => {
  const run = folded(...STARTED, control(2, "/interrupt", "pending"), control(3, "/interrupt", "delivered"));
  assert.deepEqual(steps(proofOf(run, undefined, "interrupt")), [["asked", at(2)], ["accepted", at(2)], ["delivered", at(3)]]);
});

test("an interrupt that failed says so and is not pending", () => {
  const run = folded(...STARTED, control(2, "/interrupt", "pending"), control(3, "/interrupt", "failed", { diagnostic: { summary: "no receipt" } }));
  const proof = proofOf(run, undefined, "interrupt");
  assert.equal(proof.error, "no receipt");
  assert.equal(isPending(proof), false);
});

test("a stop is complete only when the run says stopped", () => {
  const mine = asked("stop", 10);
  let run = folded(...STARTED, control(11, "/stop", "pending"), event(11, "run_status_changed", { status: "stopping", previous: "running" }));
  run = fold(run, event(12, "worker_signaled", { generation: 1, signal: 15 }));
  run = fold(run, event(13, "worker_retired", { generation: 1, how: "h", descendants: { state: "gone", processes: [] } }));
  assert.deepEqual(steps(proofOf(run, mine, "stop")), [
    ["asked", at(10)],
    ["accepted", at(11)],
    ["worker ended", at(12)],
    ["descendants looked for", at(13)],
    ["stopped", null],
  ]);
  run = fold(run, event(14, "run_status_changed", { status: "stopped", previous: "stopping" }));
  run = fold(run, control(14, "/stop", "consumed"));
  run = fold(run, event(15, "run_interrupted", { reason: "stopped", signal: null }));
  assert.deepEqual(steps(proofOf(run, mine, "stop")).at(-1), ["stopped", at(15)]);
});

test("a restart is proven by its new generation", () => {
  const mine = asked("restart", 10);
  let run = folded(...STARTED, control(11, "/restart", "pending"), event(12, "worker_exited", { generation: 1, code: 0 }));
  assert.equal(isPending(proofOf(run, mine, "restart")), true);
  run = fold(run, event(13, "worker_started", { generation: 2, pid: 43, runner: "direct" }));
  run = fold(run, control(13, "/restart", "consumed"));
  assert.deepEqual(steps(proofOf(run, mine, "restart")).at(-1), ["started again", at(13)]);
});

test("input is accepted when its Response came, and delivered only when that says so", () => {
  const proof = proofOf(folded(...STARTED), asked("input", 5, { acceptedAt: at(6) }), "input");
  assert.deepEqual(steps(proof), [["asked", at(5)], ["accepted", at(6)], ["delivered", null]]);
  const all = proofOf(folded(...STARTED), asked("input", 5, { acceptedAt: at(6), deliveredAt: at(6) }), "input");
  assert.equal(isPending(all), false);
});

test("the size of the worker's terminal is the one of its last change, and no control", () => {
  const run = folded(...STARTED, control(2, "/resize 100x30", "consumed"), control(3, "/resize 120x40", "consumed"));
  assert.deepEqual([run.size, run.controls], [{ columns: 120, rows: 40 }, []]);
});

test("pause, resume and steer are proven step by step, whoever asked", () => {
  const asked = [
    ...STARTED,
    event(3, "run_status_changed", { status: "pausing", previous: "running" }),
    control(3, "/pause", "pending"),
  ];
  const reached = (run, action) => proofOf(run, undefined, action).steps.map((step) => step.at !== null);
  assert.deepEqual(reached(folded(...asked), "pause"), [true, true, true, false]);
  const paused = [...asked, event(9, "run_status_changed", { status: "paused", previous: "pausing" }), control(9, "/pause", "consumed")];
  assert.deepEqual(reached(folded(...paused), "pause"), [true, true, true, true]);
  const steered = [...paused, control(20, "/steer: look at the tests", "pending")];
  assert.deepEqual(reached(folded(...steered), "steer"), [true, true, true, false]);
  const resumed = [...steered, event(30, "run_status_changed", { status: "running", previous: "paused" }), control(30, "/resume", "consumed")];
  assert.equal(proofOf(folded(...resumed), undefined, "resume").steps.at(-1).at, at(30));
  assert.deepEqual(reached(folded(...resumed, control(31, "/steer", "consumed")), "steer"), [true, true, true, true]);
});

test("what came to nothing is an error in the run's words, and proves nothing", () => {
  const summary = "Nothing was steered: this run is a plain command, without an agent.";
  const run = folded(...STARTED, control(4, "/steer", "cancelled", { diagnostic: { summary } }));
  const proof = proofOf(run, undefined, "steer");
  assert.equal(proof.error, summary);
  assert.equal(proof.steps.at(-1).at, null);
  assert.equal(isPending(proof), false);
});
