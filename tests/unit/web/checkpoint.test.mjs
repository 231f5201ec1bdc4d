import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

const { Checkpoint, Fault } = await import("../../../src/hopline/web/wire/checkpoint.js");

const LIST = [{ execution_id: "exec-1", assignment: "é ✓ 😀".repeat(9) }];
const TEXT = JSON.stringify(LIST);
const ID = createHash("sha256").update(TEXT).digest("hex");

function heard() {
  const told = { lists: [], faults: 0 };
  const settled = () => new Promise((resolve) => setTimeout(resolve, 20));
  const checkpoint = new Checkpoint(
    (list) => told.lists.push(list),
    () => (told.faults += 1),
  );
  return { told, checkpoint, settled };
}

const batch = (more = {}) => ({
  type: "event_batch",
  events: [],
  through_sequence: 7,
  active_executions: null,
  active_executions_checkpoint_id: ID,
  store_id: "s",
  history_after_sequence: 0,
  ...more,
});

function parts(...cuts) {
  const ends = [...cuts, TEXT.length];
  return ends.map((end, part) => ({
    type: "active_executions_chunk",
    checkpoint_id: ID,
    part,
    parts: ends.length,
    payload: TEXT.slice(ends[part - 1] ?? 0, end),
    through_sequence: 7,
    store_id: "s",
    history_after_sequence: 0,
  }));
}

test("a list inside its batch is told at once, and no list says nothing", () => {
  const { told, checkpoint } = heard();
  checkpoint.heard(batch({ active_executions: LIST, active_executions_checkpoint_id: null }));
  checkpoint.heard(batch({ active_executions: undefined, active_executions_checkpoint_id: undefined }));
  assert.deepEqual(told.lists, [LIST]);
});

test("a deferred list is told once its last part has come and its digest matches", async () => {
  const { told, checkpoint, settled } = heard();
  checkpoint.heard({ type: "subscribed" });
  checkpoint.heard(batch());
  const [first, second, third] = parts(10, 40);
  checkpoint.heard(first);
  checkpoint.heard(second);
  await settled();
  assert.deepEqual(told.lists, []);
  checkpoint.heard(third);
  await settled();
  assert.deepEqual(told.lists, [LIST]);
  assert.equal(told.faults, 0);
});

test("a new batch supersedes a list under way, also while its digest is computed", async () => {
  const { told, checkpoint, settled } = heard();
  checkpoint.heard(batch());
  checkpoint.heard(parts(10)[0]);
  checkpoint.heard(batch({ active_executions: [], active_executions_checkpoint_id: null }));
  checkpoint.heard(batch());
  for (const part of parts(10)) checkpoint.heard(part);
  checkpoint.heard(batch({ active_executions: [], active_executions_checkpoint_id: null }));
  await settled();
  assert.deepEqual(told.lists, [[], []]);
});

test("another digest is a fault, and nothing is told", async () => {
  const { told, checkpoint, settled } = heard();
  checkpoint.heard(batch());
  const [only] = parts();
  checkpoint.heard({ ...only, payload: only.payload.replace("exec-1", "exec-2") });
  await settled();
  assert.deepEqual(told, { lists: [], faults: 1 });
});

for (const [what, change] of [
  ["is missing", { part: 1 }],
  ["has another cursor", { through_sequence: 8 }],
  ["is of another store", { store_id: "t" }],
  ["is of another list", { checkpoint_id: "0".repeat(64) }],
  ["is one of too many", { parts: 257 }],
]) {
  test(`a part that ${what} is a fault`, () => {
    const { checkpoint } = heard();
    checkpoint.heard(batch());
    assert.throws(() => checkpoint.heard({ ...parts(10)[0], ...change }), Fault);
  });
}

test("a part without a list, one twice, and a message between two are faults", () => {
  assert.throws(() => heard().checkpoint.heard(parts()[0]), Fault);
  const twice = heard().checkpoint;
  twice.heard(batch());
  twice.heard(parts(10)[0]);
  assert.throws(() => twice.heard(parts(10)[0]), Fault);
  const between = heard().checkpoint;
  between.heard(batch());
  between.heard(parts(10)[0]);
  assert.throws(() => between.heard({ type: "event", event: {} }), Fault);
});
