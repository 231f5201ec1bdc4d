import assert from "node:assert/strict";
import { test } from "node:test";

const { Rate } = await import("../../../src/hopline/web/state/rate.js");
const { Seek, plain } = await import("../../../src/hopline/web/terminal/seek.js");
const { Pieces } = await import("../../../src/hopline/web/terminal/pieces.js");
const { isQuestion, money, tokens } = await import("../../../src/hopline/web/state/words.js");

const BEGAN = Date.UTC(2026, 0, 1) / 1000;
const output = (second, content, more = {}) => ({
  type: "subprocess_output",
  timestamp: new Date((BEGAN + second) * 1000).toISOString(),
  data: { content, ...more },
});

test("a rate counts bytes, whatever they say", () => {
  const rate = new Rate();
  rate.take(output(0, "ab"));
  rate.take(output(0.5, "é"));
  rate.take(output(2, "�", { raw: "/w==" }));
  rate.take({ ...output(2, "no"), type: "control" });
  assert.deepEqual(rate.series(), { times: [BEGAN, BEGAN + 1, BEGAN + 2], rates: [4, 0, 1] });
});

test("pages of history in any order make the same picture, and a long run a coarser one of as many bytes", () => {
  const rate = new Rate();
  for (const second of [90_000, 5, 40_000]) rate.take(output(second, "x".repeat(1000)));
  const { times, rates } = rate.series();
  assert.ok(times.length <= 241, String(times.length));
  assert.equal(Math.round(rates.reduce((sum, each) => sum + each * rate.step, 0)), 3000);
});

test("a run that goes on in silence shows its silence", () => {
  const rate = new Rate();
  rate.take(output(0, "x"));
  assert.deepEqual(rate.series((BEGAN + 4) * 1000).rates, [1, 0, 0, 0]);
  assert.ok(rate.series((BEGAN + 1_000_000) * 1000).times.length <= 241);
});

/** A history of `count` events, of which one says the words. */
function past(count, at, text) {
  const asked = [];
  const history = async (after, before) => {
    asked.push([after, before]);
    const events = [];
    for (let sequence = after + 1; sequence < before; sequence += 1) {
      events.push({ sequence, type: "subprocess_output", data: { content: sequence === at ? text : `line ${sequence}\n` } });
    }
    return events;
  };
  return { asked, history, recent: new Pieces(), from: count };
}

test("search goes back in bounded steps and finds words that are coloured", async () => {
  const { history, recent, from } = past(50_000, 100, "a \x1b[1;31mnee\x1b[0mdle\n");
  const seek = new Seek(history, () => {});
  assert.equal(await seek.step("Needle", from, recent), null);
  assert.equal(seek.at, 30_000);
  assert.equal(await seek.step("Needle", from, recent), null);
  const page = await seek.step("Needle", from, recent);
  assert.ok(page.after < 100 && page.through > 100);
  assert.ok(page.list.some((piece) => piece.sequence === 100));
});

test("words that lie across the border of two pages are found", async () => {
  const { history, recent } = past(4000, 2000, "nee");
  const split = async (after, before) =>
    (await history(after, before)).map((event) => (event.sequence === 2001 ? { ...event, data: { content: "dle\n" } } : event));
  const seek = new Seek(split, () => {});
  const page = await seek.step("needle", 4000, recent);
  assert.ok(plain(page).includes("needle"));
});

test("a search that is cancelled says nothing any more, and one that found nothing ends at the beginning", async () => {
  const { asked, history, recent } = past(9000, 0, "");
  const seek = new Seek(history, () => {});
  const under = seek.step("needle", 9000, recent);
  seek.cancel();
  assert.equal(await under, null);
  assert.equal(asked.length, 1);
  assert.equal(await seek.step("needle", 9000, recent), null);
  assert.equal(seek.at, 0);
  assert.equal(seek.looking, false);
});

test("history that does not come is said, and tried again from there", async () => {
  let broken = true;
  const { history, recent } = past(3000, 1, "needle");
  const seek = new Seek(async (after, before) => (broken ? Promise.reject(new Error("gone")) : history(after, before)), () => {});
  assert.equal(await seek.step("needle", 3000, recent), null);
  assert.equal(seek.trouble, "gone");
  assert.equal(seek.at, 3000);
  broken = false;
  assert.ok(await seek.step("needle", 3000, recent));
});

test("figures of agents in a person's words", () => {
  assert.deepEqual([0, 0.0125, 0.42, 12].map(money), ["$0.00", "$0.0125", "$0.42", "$12.00"]);
  assert.deepEqual([812, 4200, 130_000, 1_300_000].map((value) => tokens(value)), ["812 tokens", "4.2k tokens", "130k tokens", "1.3M tokens"]);
  assert.deepEqual(["allow `git push`? ", "the disk is full", null].map(isQuestion), [true, false, false]);
});
