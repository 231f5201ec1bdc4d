/** Follows one run: its stream, what is folded from it, and what of it waits to be shown. */

import { Feed } from "../terminal/feed.js";
import { Agents } from "../state/agents.js";
import { Rate } from "../state/rate.js";
import { emptyRun, fold, isOver } from "../state/run.js";
import { RunStream } from "../wire/stream.js";
import { EventLog } from "./events.js";
import { HIDDEN_MILLIS, Pace } from "./pace.js";

/** How often, while events flow, the run is asked how far it is: what existed then must have come by the next time. */
const PROBE_MILLIS = 2000;

/** @import { Output } from "../terminal/output.js" */
/** @import { ActiveExecution, RunEvent, RunSnapshot } from "../wire/types.js" */

export class Follower {
  run = emptyRun();
  log = new EventLog();
  agents = new Agents();
  rate = new Rate();
  /** Whether the listing says that the run's server is gone. */
  interrupted = false;

  #stream;
  #feed = new Feed((events) => this.#take(events));
  #pace = new Pace();
  #output;
  #onChange;
  /** Whether the one that waits is a skip that has been asked for and has not begun. */
  #skipping = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #hiding;
  #shown = () => this.#visibility();
  #probing = setInterval(() => void this.#probe(), PROBE_MILLIS);
  #snapshot;
  /** What came by the stream lies after this sequence; a page of history before it is taken once. */
  #floor = 0;
  /** The cursor, and how far the run was, at the last probe. */
  #before = { cursor: 0, latest: 0 };

  /**
   * @param {string} runId
   * @param {string} clientId
   * @param {Output} output
   * @param {() => Promise<RunSnapshot | null>} snapshot  asks the run for the fold of all that it has recorded
   * @param {() => void} onChange
   */
  constructor(runId, clientId, output, snapshot, onChange) {
    this.#output = output;
    this.#snapshot = snapshot;
    this.#onChange = onChange;
    this.#stream = new RunStream(runId, clientId, {
      onFresh: (floor) => this.#fresh(floor),
      onEvents: (events, size) => this.#events(events, size),
      onExecutions: (list) => this.#executions(list),
      onPosition: () => this.#moved(),
    });
    document.addEventListener("visibilitychange", this.#shown);
  }

  get position() {
    return this.#stream.position;
  }

  /** Characters that have come and are not shown yet. */
  get backlog() {
    return this.#feed.pending + this.#output.backlog;
  }

  async follow() {
    await this.#stream.follow();
    this.#onChange();
  }

  /** The terminal has drawn some of what waited. */
  drained() {
    this.#keepPace();
  }

  /** Load a page of what is above, for everything that is folded. @param {(after: number, before: number) => Promise<RunEvent[]>} history */
  async loadOlder(history) {
    await this.log.loadOlder(history, this.#onChange, (events, after) => {
      for (const event of events) if (event.sequence <= this.#floor) this.#tell(event);
      this.#floor = Math.min(this.#floor, after);
      if (isOver(this.run)) this.agents.end();
    });
  }

  /** Take the trace as the run has folded it: its spans may have begun long before the tail. */
  async refresh() {
    const snapshot = await this.#snapshot().catch(() => null);
    if (snapshot) this.agents.takeSnapshot(snapshot);
    this.#onChange();
    return snapshot?.sequence ?? 0;
  }

  /** Try at once, if it is waiting for the gateway. */
  hurry() {
    this.#stream.hurry();
  }

  dispose() {
    document.removeEventListener("visibilitychange", this.#shown);
    clearTimeout(this.#hiding);
    clearInterval(this.#probing);
    this.#stream.stop();
    this.#feed.clear();
  }

  /** @param {number} floor */
  #fresh(floor) {
    this.#skipping = false;
    this.#before = { cursor: 0, latest: 0 };
    this.#feed.clear();
    this.run = emptyRun();
    this.#floor = floor;
    this.log.reset(floor);
    this.agents.reset();
    this.rate.reset();
    this.#output.reset(floor);
    void this.refresh();
  }

  /** @param {RunEvent[]} events @param {number} size */
  #events(events, size) {
    this.#pace.received(events.length, size);
    this.#feed.push(events, size);
    this.#keepPace();
  }

  /** @param {RunEvent[]} events */
  #take(events) {
    for (const event of events) {
      this.run = fold(this.run, event);
      this.#tell(event);
    }
    if (isOver(this.run) && this.agents.executions.active.length) this.agents.end();
    this.log.take(events);
    this.#output.take(events);
    this.#keepPace();
    this.#leaveIfOver();
    this.#onChange();
  }

  /** @param {RunEvent} event */
  #tell(event) {
    if (!this.rate.take(event)) this.agents.take(event);
  }

  /** @param {ActiveExecution[]} list */
  #executions(list) {
    if (!list.length && !this.agents.executions.active.length) return;
    this.#feed.then(() => {
      if (!isOver(this.run)) this.agents.listed(list);
      this.#onChange();
    });
  }

  #moved() {
    const { phase, cursor, latest } = this.#stream.position;
    const resumed = phase !== "opening" && phase !== "parked" && latest > cursor;
    if (resumed && !this.#skipping && this.#output.following && this.#pace.hopeless(latest - cursor)) {
      this.#skipping = true;
      this.#stream.skip();
    }
    this.#leaveIfOver();
    this.#onChange();
  }

  /** A stream that is slower than its run looks live by itself. */
  async #probe() {
    const { phase, cursor } = this.#stream.position;
    const flows = cursor > this.#before.cursor || phase === "catching-up";
    this.#before.cursor = cursor;
    if (document.hidden || !flows || (phase !== "live" && phase !== "catching-up")) return;
    this.#stream.know(this.#before.latest);
    this.#before.latest = await this.refresh(); // 0 when it did not come: the stream tells what is wrong with the connection
  }

  /** An ended run sends nothing more; a connection to it would only keep its record's server up. */
  #leaveIfOver() {
    const { phase, cursor, latest } = this.#stream.position;
    const over = isOver(this.run) || this.interrupted;
    if (over && phase === "live" && cursor >= latest && this.#feed.pending === 0) this.#stream.end();
  }

  #keepPace() {
    switch (this.#pace.decide(this.backlog)) {
      case "hold":
        return this.#stream.park();
      case "resume":
        return document.hidden ? undefined : this.#stream.unpark();
      default:
    }
  }

  #visibility() {
    clearTimeout(this.#hiding);
    if (document.hidden) this.#hiding = setTimeout(() => this.#stream.park(), HIDDEN_MILLIS);
    else this.#stream.unpark();
  }
}
