import assert from "node:assert/strict";
import { test } from "node:test";

const { age, ago, clock, exactAge, outcome, shown, size, stateOf, toneOf, toneOfRow } = await import("../../../src/hopline/web/state/words.js");

const ROW = {
  id: "0123456789ab",
  name: "n",
  status: "running",
  live: true,
  command: ["true"],
  cwd: "/",
  runner: "direct",
  generation: 1,
  started_at: "2026-01-01T00:00:00Z",
  ended_at: null,
  exit_code: null,
  signal: null,
  waiting: null,
  bytes: 0,
  rates: [],
  descendants: null,
    survivors: 0,
};

test("sizes have at most three digits", () => {
  const figures = [0, 812, 999, 1000, 4210, 9949, 9951, 12_345, 999_400, 999_600, 1.26e9, 5e15];
  assert.deepEqual(figures.map(size), ["0 B", "812 B", "999 B", "1.0 kB", "4.2 kB", "9.9 kB", "10 kB", "12 kB", "999 kB", "1.0 MB", "1.3 GB", "5000 TB"]);
});

test("ages are short, and exact below an hour where it matters", () => {
  assert.deepEqual([-5, 0, 59_999, 60_000, 3.6e6, 1.1e7, 9e7].map(age), ["0s", "0s", "59s", "1m", "1h 00m", "3h 03m", "1d 1h"]);
  assert.deepEqual([5000, 724_000, 3.7e6].map(exactAge), ["5s", "12m 04s", "1h 01m"]);
});

test("how long ago has one unit", () => {
  assert.deepEqual([5000, 65_000, 3.7e6, 1e8, 2e8].map(ago), ["5s ago", "1m ago", "1h ago", "27h ago", "2d ago"]);
});

test("a time that cannot be read is not shown", () => assert.equal(clock("never"), ""));

test("a command is shown as a shell would read it", () => {
  assert.equal(shown(["git", "commit", "-m", "it's done", ""]), `git commit -m 'it'"'"'s done' ''`);
});

test("a state is a word and a tone", () => {
  assert.equal(toneOf("running"), "running");
  assert.equal(toneOf("running", true), "waiting");
  assert.equal(toneOf("interrupted"), "wrong");
  assert.equal(toneOf("something newer"), "running");
});

test("an outcome names exit status and signal", () => {
  assert.equal(outcome({ status: "completed", exit_code: 0, signal: null }), "completed");
  assert.equal(outcome({ status: "failed", exit_code: 2, signal: null }), "failed: exit 2");
  assert.equal(outcome({ status: "failed", exit_code: null, signal: 9 }), "failed: SIGKILL");
  assert.equal(outcome({ status: "stopped", exit_code: null, signal: 64 }), "stopped: signal 64");
});

test("the listing says what became of a run in a sentence", () => {
  assert.equal(stateOf(ROW), "running");
  assert.equal(stateOf({ ...ROW, generation: 2 }), "running, generation 2");
  assert.equal(stateOf({ ...ROW, waiting: "allow `git push`?" }), "waiting: allow `git push`?");
  const over = { ...ROW, live: false };
  assert.equal(stateOf({ ...over, status: "interrupted" }), "interrupted: its server is gone");
  const gone = { descendants: "gone" };
  assert.equal(stateOf({ ...over, status: "failed", exit_code: 2, ...gone }), "failed: exit 2, descendants gone");
  const left = { descendants: "remaining", survivors: 1 };
  assert.equal(stateOf({ ...over, status: "completed", exit_code: 0, ...left }), "completed, 1 process left behind");
  assert.equal(toneOfRow({ ...over, status: "completed", ...left }), "wrong");
  assert.equal(toneOfRow({ ...over, status: "completed", ...gone }), "done");
});
