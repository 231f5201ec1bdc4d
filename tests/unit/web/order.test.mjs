import assert from "node:assert/strict";
import { test } from "node:test";

const { inPlace, isWrong, matches, ordered, tally } = await import("../../../src/hopline/web/state/order.js");

const NOW = Date.parse("2026-01-02T12:00:00Z");
const nobody = () => false;

function row(name, changes = {}) {
  return {
    id: name,
    name,
    status: "running",
    live: true,
    command: ["sleep", "5"],
    cwd: "/work",
    generation: 1,
    started_at: "2026-01-02T11:00:00Z",
    ended_at: null,
    exit_code: null,
    signal: null,
    waiting: null,
    bytes: 0,
    rates: [],
    descendants: null,
    survivors: 0,
    ...changes,
  };
}

const waiting = row("waiting", { waiting: "an answer" });
const failed = row("failed", { status: "failed", live: false, ended_at: "2026-01-02T10:00:00Z" });
const busy = row("busy", { rates: [0, 50_000] });
const idle = row("idle");
const early = row("early", { status: "completed", live: false, ended_at: "2026-01-02T08:00:00Z" });
const late = row("late", { status: "completed", live: false, ended_at: "2026-01-02T11:30:00Z" });

const names = (rows) => rows.map((one) => one.name);

test("what waits comes first, then what is wrong, then what is busy, then what ended last", () => {
  const rows = ordered([early, idle, late, failed, busy, waiting], NOW, nobody);
  assert.deepEqual(names(rows), ["waiting", "failed", "busy", "idle", "late", "early"]);
});

test("a failure that was looked at, or is old, stands among what ended", () => {
  assert.deepEqual(names(ordered([failed, idle, late], NOW, (id) => id === "failed")), ["idle", "late", "failed"]);
  assert.deepEqual(names(ordered([failed, idle], NOW + 24 * 3600e3, nobody)), ["idle", "failed"]);
});

test("processes left behind are wrong whatever the run's status", () => {
  const left = row("left", { status: "completed", live: false, ended_at: "2026-01-02T11:30:00Z", descendants: "remaining", survivors: 1 });
  assert.equal(isWrong(left, NOW, nobody), true);
  assert.equal(isWrong(late, NOW, nobody), false);
});

test("a trifle more activity changes no places", () => {
  const a = row("a", { rates: [1000], started_at: "2026-01-02T11:00:02Z" });
  const b = row("b", { rates: [1100] });
  assert.deepEqual(names(ordered([b, a], NOW, nobody)), ["a", "b"]);
});

test("held rows keep their places and new ones come last", () => {
  assert.deepEqual(names(inPlace(["idle", "busy"], [waiting, busy, idle])), ["idle", "busy", "waiting"]);
});

test("a search finds every word anywhere", () => {
  assert.equal(matches(busy, "BUS sleep"), true);
  assert.equal(matches(busy, "busy nothing"), false);
  assert.equal(matches(waiting, "answer"), true);
});

test("the tally counts each run once", () => {
  assert.deepEqual(tally([waiting, failed, busy, idle, early, late], NOW), { running: 2, waiting: 1, endedToday: 3 });
});
