/**
 * The events of one run: a tail first, then every event exactly once, across lost connections, sleeping laptops and
 * restarted gateways. What is claimed about it (`position`) is counted, never assumed.
 *
 * Boot subscribes with a bound; from then on the cursor and the store id it counts in are presented, without a bound, so
 * that nothing is skipped that this page did not choose to skip (docs/wire/client.md, "Resume").
 */

import { Backoff, Pause } from "./backoff.js";
import { Checkpoint } from "./checkpoint.js";
import { atStart } from "./position.js";
import { newId } from "./requests.js";
import { Refused, open } from "./socket.js";

/** @import { ActiveExecution, EventBatch, ProtocolError, RunEvent, Subscribed } from "./types.js" */
/** @import { Position } from "./position.js" */
/** @import { Connection } from "./socket.js" */

/**
 * @typedef {object} Handlers
 * @property {(floor: number) => void} onFresh  forget what was folded; events after `floor` follow, and the spine before it
 * @property {(events: RunEvent[], size: number) => void} onEvents
 * @property {(list: ActiveExecution[]) => void} onExecutions  who is at work, as of the events that came before
 * @property {() => void} onPosition
 */

/** How many events a boot asks for. */
export const TAIL = 100;

export class RunStream {
  position = atStart();

  #path;
  #clientId;
  #handlers;
  #checkpoint;
  #storeId = "";
  #booted = false;
  #stopped = false;
  /** Whether the next dial leaves out what lies between, because the person wants to see what is live. */
  #skipping = false;
  /** @type {{ after_sequence: number, tail?: number, store_id?: string }} */
  #asked = { after_sequence: 0 };
  /** Whether the next dial only drops the bound of the boot. */
  #seamless = false;
  #withoutTail = false;
  #withoutStore = false;
  #backoff = new Backoff();
  #pause = new Pause();
  #parked = false;
  /** @type {(() => void) | null} */
  #unpark = null;
  /** @type {Connection | null} */
  #connection = null;
  /** @type {(reason: string) => void} */
  #closed = () => {};

  /**
   * @param {string} runId
   * @param {string} clientId
   * @param {Handlers} handlers
   */
  constructor(runId, clientId, handlers) {
    this.#path = `/runs/${runId}/ws`;
    this.#clientId = clientId;
    this.#handlers = handlers;
    this.#checkpoint = new Checkpoint(handlers.onExecutions, () => this.#closed("lost"));
  }

  /** Follow the run until `stop`, or until there is nothing more to come. */
  async follow() {
    while (!this.#stopped) {
      if (this.#parked) await this.#whileParked();
      if (this.#stopped) return;
      if (!this.#seamless) this.#set({ phase: this.#booted ? "resuming" : "opening" });
      this.#seamless = false;
      const reached = await this.#once();
      if (this.#stopped || this.position.phase === "ended" || this.position.phase === "failed") return;
      if (this.#parked || reached === "again") continue;
      if (this.#booted && reached === "lost") this.position.reconnects += 1;
      const wait = this.#backoff.take();
      this.#set({ phase: reached === "refused" ? "refused" : "retrying", retryAt: Date.now() + wait });
      await this.#pause.wait(wait);
    }
  }

  /** The run has recorded this many events, as it said itself. @param {number} latest */
  know(latest) {
    const { phase, cursor } = this.position;
    if (latest > cursor && (phase === "live" || phase === "catching-up")) {
      this.#set({ latest: Math.max(latest, this.position.latest), phase: "catching-up" });
    }
  }

  /** The run is over and everything has come: leave, and do not come back. */
  end() {
    this.#set({ phase: "ended" });
    this.stop();
  }

  /** Leave for good. */
  stop() {
    this.#stopped = true;
    this.#connection?.close();
    this.#closed("stopped");
    this.#pause.skip();
    this.#unpark?.();
  }

  /** Try at once, if it is waiting. */
  hurry() {
    this.#backoff.reset();
    this.#pause.skip();
  }

  /** Leave the connection until `unpark`: nobody looks, or what has come is more than can be shown for now. */
  park() {
    if (this.#parked || this.#stopped) return;
    this.#parked = true;
    this.#connection?.close();
    this.#closed("parked");
    this.#pause.skip();
  }

  /**
   * Go on from where it was; or, to `skip`, with the newest events, leaving out what lies between.
   *
   * @param {boolean} [skip]
   */
  unpark(skip = false) {
    if (skip) this.#skipping = true;
    this.#parked = false;
    this.#unpark?.();
  }

  /** Begin anew with the newest events. */
  skip() {
    this.#skipping = true;
    this.#connection?.close();
    this.#closed("again");
  }

  async #whileParked() {
    this.#set({ phase: "parked" });
    await new Promise((/** @type {(_: void) => void} */ resolve) => (this.#unpark = resolve));
    this.#unpark = null;
  }

  /** One connection, from its dial to its end. @returns {Promise<"lost" | "again" | "refused">} */
  async #once() {
    const over = new Promise((/** @type {(reason: string) => void} */ resolve) => (this.#closed = resolve));
    const dial = { fresh: true };
    try {
      this.#connection = await open(
        this.#path,
        (message, size) => (this.#received(message, size, dial), this.#checkpoint.heard(message)),
        (reason) => this.#closed(reason),
      );
    } catch (error) {
      if (error instanceof Refused) return "refused";
      return "lost";
    }
    if (this.#stopped || this.#parked) {
      this.#connection.close();
      return "again";
    }
    this.#asked = this.#question();
    this.#connection.send({
      type: "subscribe",
      protocol_version: 1,
      request_id: newId(),
      client_id: this.#clientId,
      ...this.#asked,
    });
    const reason = await over;
    this.#connection.close();
    this.#connection = null;
    return reason === "again" || reason === "parked" ? "again" : "lost";
  }

  #question() {
    const { cursor } = this.position;
    if (!this.#booted || this.#skipping) {
      return this.#withoutTail ? { after_sequence: 0 } : { after_sequence: 0, tail: TAIL };
    }
    return this.#withoutStore ? { after_sequence: cursor } : { after_sequence: cursor, store_id: this.#storeId };
  }

  /**
   * @param {any} message
   * @param {number} size
   * @param {{ fresh: boolean }} dial
   */
  #received(message, size, dial) {
    switch (message.type) {
      case "subscribed":
        return this.#accepted(message);
      case "event_batch":
        return this.#batch(message, size, dial);
      case "event":
        return this.#deliver([message.event], message.event.sequence, size);
      case "protocol_error":
        return this.#failed(message);
      case undefined:
        return this.#rejected(message);
      default: // a part of the list of executions, or something newer
    }
  }

  /** @param {Subscribed} message */
  #accepted(message) {
    this.#set({ latest: message.latest_sequence, error: "" });
  }

  /**
   * @param {EventBatch} batch
   * @param {number} size
   * @param {{ fresh: boolean }} dial
   */
  #batch(batch, size, dial) {
    const first = dial.fresh;
    dial.fresh = false;
    const otherStore = this.#storeId !== "" && batch.store_id !== "" && batch.store_id !== this.#storeId;
    if (batch.rebootstrap || otherStore || (first && this.#asked.store_id === undefined && !this.#resumes())) {
      this.#begin(batch, otherStore);
    }
    if (batch.store_id) this.#storeId = batch.store_id;
    this.#backoff.reset();
    this.#deliver(batch.events, batch.through_sequence, size);
    if (this.#asked.tail !== undefined && this.position.cursor >= this.position.latest) {
      this.#seamless = true;
      this.#closed("again");
    }
  }

  #resumes() {
    return this.#booted && !this.#skipping && this.#withoutStore;
  }

  /**
   * What was folded is superseded.
   *
   * @param {EventBatch} batch
   * @param {boolean} otherStore
   */
  #begin(batch, otherStore) {
    const floor = batch.history_after_sequence;
    const skipped = otherStore || !this.#booted ? 0 : Math.max(0, floor - this.position.cursor);
    if (this.#booted) this.position.restarted = otherStore ? "store" : this.#skipping ? "skipped" : "tail";
    this.position.skipped = skipped;
    this.position.missed = 0;
    this.position.cursor = floor;
    this.#booted = true;
    this.#skipping = false;
    this.#handlers.onFresh(floor);
  }

  /**
   * @param {RunEvent[]} events
   * @param {number} through
   * @param {number} size
   */
  #deliver(events, through, size) {
    let last = this.position.cursor;
    for (const { sequence } of events) {
      if (sequence <= last) continue; // the spine below the floor
      this.position.missed += sequence - last - 1;
      last = sequence;
    }
    this.position.cursor = Math.max(last, through);
    this.position.latest = Math.max(this.position.latest, this.position.cursor);
    this.#set({ phase: this.position.cursor < this.position.latest ? "catching-up" : "live" });
    if (events.length) this.#handlers.onEvents(events, size);
  }

  /** @param {ProtocolError} message */
  #failed(message) {
    const final = message.code === "not_found" || message.code === "permission_denied";
    this.#set(final ? { phase: "failed", error: message.message } : { error: message.message });
  }

  /** The subscribe was refused: the run's server predates something that was asked (WP-CAPABILITY-PROBE). */
  #rejected(/** @type {any} */ response) {
    if (this.#asked.tail !== undefined && !this.#withoutTail) this.#withoutTail = true;
    else if (this.#asked.store_id !== undefined && !this.#withoutStore) this.#withoutStore = true;
    else this.#set({ error: response.diagnostic?.summary ?? response.error ?? "refused" });
    this.#closed(this.position.error ? "lost" : "again");
  }

  /** @param {Partial<Position>} changes */
  #set(changes) {
    this.position = { ...this.position, ...changes };
    this.#handlers.onPosition();
  }
}
