import assert from "node:assert/strict";
import { test } from "node:test";

const { Pieces, cut, pieceOf } = await import("../../../src/hopline/web/terminal/pieces.js");
const { HOPELESS, HIGH, LOW, Pace } = await import("../../../src/hopline/web/views/pace.js");
const { claimOf } = await import("../../../src/hopline/web/state/claim.js");
const { Backoff } = await import("../../../src/hopline/web/wire/backoff.js");

const piece = (sequence, text = "x".repeat(10)) => ({ sequence, text });
const sequences = (pieces) => pieces.list.map((one) => one.sequence);

function filled() {
  const pieces = new Pieces();
  pieces.reset(10);
  for (const sequence of [11, 12, 14, 15]) pieces.append(sequence, piece(sequence));
  return pieces;
}

test("pieces know which events they stand for", () => {
  const pieces = filled();
  pieces.append(16, null);
  assert.deepEqual([pieces.after, pieces.through, pieces.length], [10, 16, 40]);
  assert.deepEqual(pieces.later(12).map((one) => one.sequence), [14, 15]);
  assert.deepEqual(pieces.later(15), []);
});

test("a page of history goes before what is held", () => {
  const pieces = filled();
  pieces.prepend(5, [piece(7), piece(9)]);
  assert.deepEqual([pieces.after, pieces.length, sequences(pieces)], [5, 60, [7, 9, 11, 12, 14, 15]]);
});

test("the oldest and the newest are dropped to a bound, and never the last one", () => {
  const old = filled();
  old.trimStart(20);
  assert.deepEqual([old.after, old.length, sequences(old)], [12, 20, [14, 15]]);
  old.trimStart(0);
  assert.deepEqual(sequences(old), [15]);
  const young = filled();
  young.trimEnd(20);
  assert.deepEqual([young.through, young.length, sequences(young)], [13, 20, [11, 12]]);
});

test("what is forgotten is counted as above", () => {
  const pieces = filled();
  pieces.dropThrough(12);
  assert.deepEqual([pieces.after, pieces.length, sequences(pieces)], [12, 20, [14, 15]]);
});

test("only output is a piece", () => {
  assert.deepEqual(pieceOf({ sequence: 1, type: "subprocess_output", data: { content: "a" } }), { sequence: 1, text: "a" });
  assert.deepEqual(pieceOf({ sequence: 1, type: "output", data: { content: "a" } }), { sequence: 1, text: "a" });
  for (const data of [null, { content: "" }, { content: 5 }]) assert.equal(pieceOf({ sequence: 1, type: "subprocess_output", data }), null);
  assert.equal(pieceOf({ sequence: 1, type: "control", data: { content: "a" } }), null);
});

test("text is cut between characters, and nothing is lost", () => {
  const text = "a".repeat(7) + "😀".repeat(20) + "é日本";
  for (let length = 1; length < 12; length += 1) {
    const parts = [...cut(text, length)];
    assert.equal(parts.join(""), text);
    for (const part of parts) assert.ok(part.isWellFormed());
  }
});

test("a flood is left once and taken up again once it has been shown", () => {
  const pace = new Pace();
  assert.equal(pace.decide(HIGH), null);
  assert.equal(pace.decide(HIGH + 1), "hold");
  assert.equal(pace.decide(HIGH * 2), null);
  assert.equal(pace.decide(LOW), null);
  assert.equal(pace.decide(LOW - 1), "resume");
  assert.equal(pace.decide(0), null);
});

test("how far is hopeless depends on how big events are", () => {
  const pace = new Pace();
  assert.equal(pace.hopeless(1000), false);
  for (let turn = 0; turn < 20; turn += 1) pace.received(100, 6_400_000);
  assert.equal(pace.hopeless(1000), true);
  assert.equal(pace.hopeless(HOPELESS / 100_000), false);
});

test("waits double from half a second to eight", () => {
  const backoff = new Backoff();
  assert.deepEqual(Array.from({ length: 6 }, () => backoff.take()), [500, 1000, 2000, 4000, 8000, 8000]);
  backoff.reset();
  assert.equal(backoff.take(), 500);
});

const POSITION = { phase: "live", cursor: 48_213, latest: 48_213, missed: 0, reconnects: 0, restarted: "", skipped: 0, retryAt: 0, error: "" };
const said = (changes, more = {}) => {
  const { text, detail } = claimOf({ ...POSITION, ...changes }, 1000, { interrupted: false, backlog: 0, ...more });
  return detail ? `${text} | ${detail}` : text;
};

test("the connection line says what is true, in words", () => {
  assert.equal(said({}), "live | event 48,213 · missed nothing");
  assert.equal(said({ phase: "catching-up", latest: 50_523 }), "behind 2,310 events, catching up | missed nothing");
  assert.equal(said({ phase: "resuming" }), "resuming from 48,213 | missed nothing");
  assert.equal(said({ reconnects: 1 }), "live | event 48,213 · reconnected, missed nothing");
  assert.equal(said({ restarted: "store" }), "live | event 48,213 · restarted from the tail because the store changed");
  assert.equal(said({ restarted: "skipped", skipped: 4021 }), "live | event 48,213 · skipped 4,021 events to stay live");
  assert.equal(said({ phase: "ended" }), "ended | event 48,213 · missed nothing");
  assert.equal(said({ phase: "ended" }, { interrupted: true }), "its server is gone | recorded up to event 48,213");
  assert.equal(said({ phase: "retrying", retryAt: 4900 }), "gateway unreachable, retrying in 4 s | shown up to event 48,213");
  assert.equal(said({}, { backlog: 1_234_000 }), "behind 1.2 MB, catching up | missed nothing");
  assert.equal(said({ missed: 3 }), "live | event 48,213 · 3 events missing from the journal");
});
