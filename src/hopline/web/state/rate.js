/** How fast a run wrote, by its own clock: bytes a second over the time of the events that were loaded. Pure. */

/** @import { RunEvent } from "../wire/types.js" */

/** Columns of the picture; past twice as many, neighbours become one. */
const MOST = 120;
const ASCII = /^[\0-\x7f]*$/;
const ENCODER = new TextEncoder();

export class Rate {
  /** Seconds of one column. */
  step = 1;
  /** @type {Map<number, number>} bytes by column */
  #columns = new Map();
  #first = Infinity;
  #last = -Infinity;

  reset() {
    this.step = 1;
    this.#columns = new Map();
    this.#first = Infinity;
    this.#last = -Infinity;
  }

  get empty() {
    return this.#columns.size === 0;
  }

  /** @param {RunEvent} event @returns {boolean} whether it is output */
  take({ type, timestamp, data }) {
    if (type !== "subprocess_output" && type !== "output") return false;
    const seconds = Date.parse(timestamp) / 1000;
    if (!Number.isFinite(seconds)) return false;
    const column = Math.floor(seconds / this.step);
    this.#columns.set(column, (this.#columns.get(column) ?? 0) + bytesOf(data));
    this.#first = Math.min(this.#first, column);
    this.#last = Math.max(this.#last, column);
    while (this.#last - this.#first >= 2 * MOST) this.#coarsen();
    return true;
  }

  /**
   * @param {number | null} until  the present of a run that goes on, in milliseconds of its clock
   * @returns {{ times: number[], rates: number[] }}  seconds of the epoch, bytes a second
   */
  series(until = null) {
    /** @type {number[]} */
    const times = [];
    /** @type {number[]} */
    const rates = [];
    if (this.empty) return { times, rates };
    // The column under way is not whole yet.
    const now = () => (until === null ? this.#last : Math.floor(until / 1000 / this.step) - 1);
    while (now() - this.#first >= 2 * MOST) this.#coarsen();
    const end = Math.max(this.#last, now());
    for (let column = Math.min(this.#first, end - 1); column <= end; column += 1) {
      times.push(column * this.step);
      rates.push((this.#columns.get(column) ?? 0) / this.step);
    }
    return { times, rates };
  }

  #coarsen() {
    const before = this.#columns;
    this.step *= 2;
    this.#columns = new Map();
    for (const [column, bytes] of before) {
      const wider = Math.floor(column / 2);
      this.#columns.set(wider, (this.#columns.get(wider) ?? 0) + bytes);
    }
    this.#first = Math.floor(this.#first / 2);
    this.#last = Math.floor(this.#last / 2);
  }
}

/** @param {any} data */
function bytesOf(data) {
  if (typeof data?.raw === "string") return Math.floor((data.raw.length * 3) / 4) - (data.raw.match(/=+$/)?.[0].length ?? 0);
  const content = typeof data?.content === "string" ? data.content : "";
  return ASCII.test(content) ? content.length : ENCODER.encode(content).length;
}
