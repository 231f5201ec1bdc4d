import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

/** Every socket that was opened, in order; a test is the server. */
let sockets = [];
let reachable = true;
let pageStatus = 200;

class FakeSocket {
  sent = [];
  closed = false;
  constructor(url) {
    this.url = url;
    sockets.push(this);
    queueMicrotask(() => (reachable ? this.onopen?.() : this.onclose?.({ code: 1006, reason: "" })));
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.closed = true;
  }
  say(message) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  drop() {
    this.onclose?.({ code: 1006, reason: "" });
  }
}

globalThis.location = { protocol: "http:", host: "127.0.0.1:8765" };
globalThis.WebSocket = FakeSocket;
globalThis.fetch = async () => {
  if (!reachable && pageStatus === 0) throw new TypeError("refused");
  return { status: pageStatus };
};
mock.timers.enable({ apis: ["setTimeout", "Date"] });

const { RunStream, TAIL } = await import("../../../src/hopline/web/wire/stream.js");
const { Requests, RequestFailed } = await import("../../../src/hopline/web/wire/requests.js");
const { Disconnected } = await import("../../../src/hopline/web/wire/socket.js");

const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

/** @type {RunStream[]} */
let streams = [];

beforeEach(async () => {
  for (const stream of streams) stream.stop();
  streams = [];
  await settle();
  sockets = [];
  reachable = true;
  pageStatus = 200;
});

function following() {
  const seen = { fresh: [], sequences: [] };
  const stream = new RunStream("0123456789ab", "me", {
    onFresh: (floor) => seen.fresh.push(floor),
    onEvents: (events) => seen.sequences.push(...events.map((event) => event.sequence)),
    onPosition: () => {},
  });
  streams.push(stream);
  void stream.follow();
  return { stream, seen };
}

const events = (...list) => list.map((sequence) => ({ sequence, type: "output", data: null }));
const batch = (list, more = {}) => ({ type: "event_batch", events: events(...list), through_sequence: list.at(-1) ?? 0, store_id: "a", history_after_sequence: 0, rebootstrap: false, ...more });
const subscribed = (latest) => ({ type: "subscribed", run_id: "r", latest_sequence: latest });

/** A stream that has booted at 5 and goes on without a bound. */
async function booted() {
  const { stream, seen } = following();
  await settle();
  sockets[0].say(subscribed(5));
  sockets[0].say(batch([1, 3, 4, 5], { history_after_sequence: 2 }));
  await settle();
  sockets[1].say(subscribed(5));
  sockets[1].say(batch([], { through_sequence: 5 }));
  await settle();
  return { stream, seen };
}

test("boot asks for a tail, then goes on from its end without a bound", async () => {
  const { stream, seen } = await booted();
  assert.equal(sockets[0].url, "ws://127.0.0.1:8765/runs/0123456789ab/ws");
  assert.deepEqual([sockets[0].sent[0].tail, sockets[0].sent[0].after_sequence, sockets[0].sent[0].client_id], [TAIL, 0, "me"]);
  assert.equal(sockets[0].closed, true);
  const { after_sequence, store_id, tail } = sockets[1].sent[0];
  assert.deepEqual([after_sequence, store_id, tail], [5, "a", undefined]);
  assert.deepEqual([seen.fresh, seen.sequences], [[2], [1, 3, 4, 5]]);
  assert.equal(stream.position.phase, "live");
});

test("a lost connection is resumed from the cursor and its store, and nothing is missed", async () => {
  const { stream, seen } = await booted();
  sockets[1].say(batch([6, 7]));
  sockets[1].drop();
  await settle();
  assert.equal(stream.position.phase, "retrying");
  mock.timers.tick(499);
  await settle();
  assert.equal(sockets.length, 2);
  mock.timers.tick(1);
  await settle();
  assert.deepEqual([sockets[2].sent[0].after_sequence, sockets[2].sent[0].store_id], [7, "a"]);
  assert.equal(stream.position.phase, "resuming");
  sockets[2].say(subscribed(9));
  sockets[2].say(batch([8]));
  assert.equal(stream.position.phase, "catching-up");
  sockets[2].say(batch([9]));
  assert.deepEqual([stream.position.phase, stream.position.missed, stream.position.reconnects], ["live", 0, 1]);
  assert.deepEqual(seen.fresh, [2]);
});

test("another store on reconnect is a fresh fold without any marker", async () => {
  const { stream, seen } = await booted();
  sockets[1].drop();
  await settle();
  mock.timers.tick(500);
  await settle();
  sockets[2].say(subscribed(2));
  sockets[2].say(batch([1, 2], { store_id: "b" }));
  assert.deepEqual([seen.fresh, stream.position.restarted, stream.position.cursor, stream.position.missed], [[2, 0], "store", 2, 0]);
});

test("a marked batch supersedes what was folded", async () => {
  const { stream, seen } = await booted();
  sockets[1].say(batch([20, 21], { rebootstrap: true, history_after_sequence: 19 }));
  assert.deepEqual([seen.fresh, stream.position.restarted, stream.position.cursor], [[2, 19], "tail", 21]);
});

test("a hole is counted and never called nothing", async () => {
  const { stream } = await booted();
  sockets[1].say(batch([6, 9]));
  assert.equal(stream.position.missed, 2);
});

test("an event that is known already moves nothing back", async () => {
  const { stream } = await booted();
  sockets[1].say(batch([4, 5, 6]));
  assert.deepEqual([stream.position.cursor, stream.position.missed], [6, 0]);
});

test("a server that knows no tail is asked without it", async () => {
  following();
  await settle();
  sockets[0].say({ request_id: "x", ok: false, error: "unknown field" });
  await settle();
  assert.equal(sockets[1].sent[0].tail, undefined);
});

test("a server that knows no store id is resumed by the cursor alone", async () => {
  const { seen } = await booted();
  sockets[1].drop();
  await settle();
  mock.timers.tick(500);
  await settle();
  sockets[2].say({ request_id: "x", ok: false, error: "unknown field" });
  await settle();
  assert.deepEqual([sockets[3].sent[0].after_sequence, sockets[3].sent[0].store_id], [5, undefined]);
  sockets[3].say(subscribed(6));
  sockets[3].say(batch([6], { store_id: "" }));
  assert.deepEqual(seen.fresh, [2]);
});

test("a run that is not there is not asked for again", async () => {
  const { stream } = following();
  await settle();
  sockets[0].say({ type: "protocol_error", code: "not_found", message: "there is no run", diagnostic: null });
  sockets[0].drop();
  await settle();
  mock.timers.tick(60_000);
  await settle();
  assert.deepEqual([sockets.length, stream.position.phase, stream.position.error], [1, "failed", "there is no run"]);
});

test("a failed stream is dialled again and says why", async () => {
  const { stream } = await booted();
  sockets[1].say({ type: "protocol_error", code: "stream_failed", message: "Event stream failed", diagnostic: null });
  sockets[1].drop();
  await settle();
  assert.deepEqual([stream.position.phase, stream.position.error], ["retrying", "Event stream failed"]);
});

test("attempts are half a second apart, then twice that each time, until one succeeds", async () => {
  reachable = false;
  pageStatus = 0;
  const { stream } = following();
  await settle();
  for (const wait of [500, 1000, 2000, 4000, 8000, 8000]) {
    const before = sockets.length;
    mock.timers.tick(wait - 1);
    await settle();
    assert.equal(sockets.length, before);
    mock.timers.tick(1);
    await settle();
    assert.equal(sockets.length, before + 1);
  }
  assert.equal(stream.position.phase, "retrying");
  stream.hurry();
  await settle();
  assert.equal(sockets.length, 8);
});

test("a gateway that wants another session is said apart from one that is gone", async () => {
  reachable = false;
  pageStatus = 403;
  const { stream } = following();
  await settle();
  assert.equal(stream.position.phase, "refused");
});

test("a parked stream lets go and comes back to where it was", async () => {
  const { stream } = await booted();
  stream.park();
  await settle();
  assert.deepEqual([sockets[1].closed, stream.position.phase], [true, "parked"]);
  stream.unpark();
  await settle();
  assert.equal(sockets[2].sent[0].after_sequence, 5);
});

test("a skip begins with the newest and says how much it left out", async () => {
  const { stream, seen } = await booted();
  stream.skip();
  await settle();
  assert.equal(sockets[2].sent[0].tail, TAIL);
  sockets[2].say(subscribed(1000));
  sockets[2].say(batch([999, 1000], { history_after_sequence: 998 }));
  assert.deepEqual([seen.fresh, stream.position.restarted, stream.position.skipped], [[2, 998], "skipped", 993]);
});

test("after the end nothing is dialled", async () => {
  const { stream } = await booted();
  stream.end();
  await settle();
  mock.timers.tick(60_000);
  await settle();
  assert.deepEqual([sockets.length, stream.position.phase], [2, "ended"]);
});

test("what cannot be understood ends the connection and not the page", async () => {
  const { stream } = await booted();
  sockets[1].onmessage({ data: "{" });
  await settle();
  assert.equal(stream.position.phase, "retrying");
});

test("a request gets its own Response, a refusal its words, and a lost one is said to be unknown", async () => {
  const requests = new Requests("0123456789ab", "me");
  const answers = [1, 2, 3].map((number) => requests.ask("query.events", { after_sequence: number }));
  await settle();
  const [first, second] = sockets[0].sent;
  sockets[0].say({ request_id: second.request_id, ok: false, error: "no", diagnostic: { summary: "not now", code: "worker_ended" } });
  sockets[0].say({ request_id: first.request_id, ok: true, events: [] });
  assert.equal((await answers[0]).ok, true);
  await assert.rejects(answers[1], (error) => error instanceof RequestFailed && error.message === "not now" && error.code === "worker_ended");
  sockets[0].drop();
  await assert.rejects(answers[2], Disconnected);
  const again = requests.ask("query.events");
  await settle();
  assert.equal(sockets.length, 2);
  mock.timers.tick(30_000);
  await assert.rejects(again, Disconnected);
});

test("a connection that rests while something is asked answers it first", async () => {
  const requests = new Requests("0123456789ab", "me");
  const answer = requests.ask("query.snapshot");
  requests.rest();
  await settle();
  requests.rest();
  assert.equal(sockets[0].closed, false);
  sockets[0].say({ request_id: sockets[0].sent[0].request_id, ok: true, events: [] });
  assert.equal((await answer).ok, true);
  requests.rest();
  await settle();
  assert.equal(sockets[0].closed, true);
});
