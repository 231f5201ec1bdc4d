/** Pages of history: asked for one at a time, about as long as a person reads at once. */

import { pieceOf } from "./pieces.js";

/** @import { RunEvent } from "../wire/types.js" */
/** @import { Piece, Pieces } from "./pieces.js" */

/** Characters of one page, about. */
const LENGTH = 400_000;
const MIN_EVENTS = 16;
const MAX_EVENTS = 2000;
/** Taken for an event's length before any has been seen. */
const USUAL_LENGTH = 200;

/**
 * @typedef {(after: number, before: number) => Promise<RunEvent[]>} History  every event between, oldest first
 * @typedef {{ after: number, through: number, list: Piece[] }} Page
 */

export class Pages {
  /** Whether a page is on its way. */
  loading = false;
  /** Why the last page did not come. */
  trouble = "";

  #history;
  #onChange;

  /** @param {History} history @param {() => void} onChange */
  constructor(history, onChange) {
    this.#history = history;
    this.#onChange = onChange;
  }

  /** How many events make about a page, judged by those of late. @param {Pieces} recent */
  events({ list, length }) {
    const each = list.length ? length / list.length : USUAL_LENGTH;
    return Math.min(MAX_EVENTS, Math.max(MIN_EVENTS, Math.round(LENGTH / Math.max(each, 1))));
  }

  /** @param {number} after @param {number} before @returns {Promise<Page | null>} null when it did not come */
  async between(after, before) {
    this.loading = true;
    this.trouble = "";
    this.#onChange();
    try {
      const events = await this.#history(after, before);
      return { after, through: before - 1, list: events.flatMap((event) => pieceOf(event) ?? []) };
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
      return null;
    } finally {
      this.loading = false;
      this.#onChange();
    }
  }
}
