/** Writes pieces into a terminal a slice at a time, never more ahead than it can parse between two frames. */

import { cut } from "./pieces.js";

/** @import { Terminal, IMarker } from "@xterm/xterm" */
/** @import { Piece } from "./pieces.js" */

/** Characters of one write: a few milliseconds of parsing. */
export const SLICE = 16 * 1024;
/** Characters given to the terminal that it has not parsed yet. */
export const AHEAD = 256 * 1024;
/** A place is remembered about once in this many characters. */
export const MARK_EVERY = 32 * 1024;

export class Writer {
  #terminal;
  #onDrained;
  /** @type {Piece[]} */
  #queue = [];
  #queued = 0;
  #ahead = 0;
  #sinceMark = Infinity;
  #disposed = false;
  /** @type {(() => void)[]} */
  #waiting = [];
  /** @type {{ sequence: number, marker: IMarker }[]} where pieces begin, oldest first */
  #marks = [];
  /** The last piece that was given to the terminal. */
  written = 0;

  /**
   * @param {Terminal} terminal
   * @param {() => void} onDrained  everything that was given has been parsed
   */
  constructor(terminal, onDrained) {
    this.#terminal = terminal;
    this.#onDrained = onDrained;
  }

  /** Characters that wait to be shown. */
  get backlog() {
    return this.#queued + this.#ahead;
  }

  /** @param {Piece[]} pieces */
  write(pieces) {
    for (const piece of pieces) {
      this.#queue.push(piece);
      this.#queued += piece.text.length;
    }
    this.#pump();
  }

  /** Wait until everything that was given has been parsed. */
  async drained() {
    while (this.backlog && !this.#disposed) {
      await new Promise((/** @type {(_: void) => void} */ resolve) => this.#waiting.push(resolve));
    }
  }

  /** Forget what has not been given to the terminal yet. */
  dispose() {
    this.#disposed = true;
    this.#release();
    this.#queue = [];
    this.#queued = 0;
  }

  /**
   * The oldest place that is still in the terminal.
   *
   * @returns {{ sequence: number, line: number } | null}
   */
  oldest() {
    while (this.#marks[0]?.marker.isDisposed) this.#marks.shift();
    const mark = this.#marks[0];
    return mark ? { sequence: mark.sequence, line: mark.marker.line } : null;
  }

  /** @param {number} sequence @returns {number | null} the line where this piece begins, if it was marked */
  lineOf(sequence) {
    const mark = this.#marks.find((found) => found.sequence === sequence && !found.marker.isDisposed);
    return mark ? mark.marker.line : null;
  }

  /** Remember where the next piece begins, whatever its length. */
  markNext() {
    this.#sinceMark = Infinity;
  }

  #pump() {
    while (this.#ahead < AHEAD && this.#queue.length && !this.#disposed) {
      const piece = /** @type {Piece} */ (this.#queue.shift());
      this.#queued -= piece.text.length;
      this.written = piece.sequence;
      if (this.#sinceMark >= MARK_EVERY) this.#mark(piece.sequence);
      this.#sinceMark += piece.text.length;
      for (const part of cut(piece.text, SLICE)) this.#give(part);
    }
  }

  /** @param {string} part */
  #give(part) {
    this.#ahead += part.length;
    this.#terminal.write(part, () => {
      this.#ahead -= part.length;
      if (this.#disposed) return;
      if (this.#queue.length) this.#pump();
      else if (this.#ahead === 0) {
        this.#release();
        this.#onDrained();
      }
    });
  }

  #release() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** A marker is set when the terminal has parsed what comes before, which an empty write's callback tells. @param {number} sequence */
  #mark(sequence) {
    this.#sinceMark = 0;
    this.#terminal.write("", () => {
      if (this.#disposed) return;
      const marker = this.#terminal.registerMarker(0);
      if (marker) this.#marks.push({ sequence, marker });
    });
  }
}
