/** Hands events on a few milliseconds at a time, so that a page under a flood still answers its person. */

/** @import { RunEvent } from "../wire/types.js" */

/** How long one turn may take. */
export const TURN_MILLIS = 8;

export class Feed {
  #take;
  /** @type {{ events: RunEvent[], next: number, size: number, then?: () => void }[]} */
  #queue = [];
  #channel = new MessageChannel();
  #scheduled = false;
  /** Characters of the messages that wait. */
  pending = 0;

  /** @param {(events: RunEvent[]) => void} take */
  constructor(take) {
    this.#take = take;
    this.#channel.port1.onmessage = () => this.#turn();
  }

  /** @param {RunEvent[]} events @param {number} size  characters of their message */
  push(events, size) {
    this.#queue.push({ events, next: 0, size });
    this.pending += size;
    this.#schedule();
  }

  /** Do something once everything that was pushed before has been handed on. @param {() => void} action */
  then(action) {
    this.#queue.push({ events: [], next: 0, size: 0, then: action });
    this.#schedule();
  }

  /** Forget what waits. */
  clear() {
    this.#queue = [];
    this.pending = 0;
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#channel.port2.postMessage(null);
  }

  #turn() {
    this.#scheduled = false;
    const until = performance.now() + TURN_MILLIS;
    while (this.#queue.length && performance.now() < until) {
      const batch = /** @type {{ events: RunEvent[], next: number, size: number, then?: () => void }} */ (this.#queue[0]);
      const events = batch.events.slice(batch.next, batch.next + 64);
      batch.next += events.length;
      if (batch.next >= batch.events.length) {
        this.#queue.shift();
        this.pending -= batch.size;
      }
      if (batch.then) batch.then();
      else this.#take(events);
    }
    if (this.#queue.length) this.#schedule();
  }
}
