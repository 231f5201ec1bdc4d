/** The listing of every run, kept current for as long as the page is open. */

import { Backoff, Pause } from "./backoff.js";
import { Refused, open } from "./socket.js";

/** @import { Row, RunsFrame } from "./types.js" */
/** @import { Connection } from "./socket.js" */

/** The gateway says something at least every 5 s; after this long it is taken for gone. */
export const SILENT_MILLIS = 15_000;

/** @typedef {"opening" | "live" | "retrying" | "refused"} ListingPhase */

export class Listing {
  /** @type {Map<string, Row>} */
  rows = new Map();
  hostname = "";
  older = 0;
  /** @type {string[]} */
  unreadable = [];
  /** @type {ListingPhase} */
  phase = "opening";
  /** When the next attempt is due, in milliseconds of Date.now(). */
  retryAt = 0;
  /** The gateway's clock less ours, in milliseconds. */
  skew = 0;
  /** Whether a whole listing has come yet. */
  known = false;

  #onChange;
  #backoff = new Backoff();
  #pause = new Pause();
  /** @type {Connection | null} */
  #connection = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #silence;

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /** Follow the listing; never returns. */
  async follow() {
    for (;;) {
      await this.#once();
      if (this.phase !== "refused") this.phase = "retrying";
      const wait = this.#backoff.take();
      this.retryAt = Date.now() + wait;
      this.#onChange();
      await this.#pause.wait(wait);
    }
  }

  /** Try at once, if it is waiting. */
  hurry() {
    this.#backoff.reset();
    this.#pause.skip();
  }

  async #once() {
    /** @type {(reason: string) => void} */
    let closed = () => {};
    const over = new Promise((resolve) => (closed = resolve));
    try {
      this.#connection = await open("/runs/ws", (frame) => this.#received(frame, closed), closed);
    } catch (error) {
      if (error instanceof Refused) this.phase = "refused";
      return;
    }
    this.#heard(closed);
    await over;
    clearTimeout(this.#silence);
    this.#connection.close();
  }

  /**
   * @param {RunsFrame} frame
   * @param {(reason: string) => void} closed
   */
  #received(frame, closed) {
    this.#heard(closed);
    if (frame.type !== "runs") return;
    if (frame.full) this.rows = new Map();
    for (const row of frame.rows) this.rows.set(row.id, row);
    for (const id of frame.removed) this.rows.delete(id);
    this.hostname = frame.hostname;
    this.older = frame.older;
    this.unreadable = frame.unreadable;
    this.skew = Date.parse(frame.now) - Date.now();
    this.phase = "live";
    this.known = true;
    this.#backoff.reset();
    this.#onChange();
  }

  /** @param {(reason: string) => void} closed */
  #heard(closed) {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => closed("silent"), SILENT_MILLIS);
  }
}
