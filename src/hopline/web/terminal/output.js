/**
 * A run's output as a person reads it: it follows what is live, stands still while they read further up, loads what is
 * above as they scroll, and always knows which events it shows.
 *
 * `shown` is what the terminal holds; `recent` is the newest output, kept whether it is shown or not, so that coming back
 * to live needs nobody else.
 */

import { Pieces, pieceOf } from "./pieces.js";
import { Screen } from "./screen.js";
import { Writer } from "./writer.js";

/** @import { RunEvent } from "../wire/types.js" */
/** @import { Piece } from "./pieces.js" */
/** @import { ScreenOptions } from "./screen.js" */

/** Lines kept while following. */
const LIVE_LINES = 20_000;
/** Lines kept while reading what is further up. */
const READING_LINES = 100_000;
/** Characters that one terminal shows at most. */
const SHOWN_LENGTH = 6_000_000;
const RECENT_LENGTH = 1_000_000;
/** Characters of one page of history, about. */
const PAGE_LENGTH = 400_000;
/** How often output that does not fill the window is filled up from above without being asked. */
const FILLS = 3;

/**
 * @typedef {Omit<ScreenOptions, "scrollback">} OutputOptions
 * @typedef {(after: number, before: number) => Promise<RunEvent[]>} History  every event between, oldest first
 */

export class Output {
  shown = new Pieces();
  recent = new Pieces();
  /** Whether what comes is shown at once. */
  following = true;
  /** Lines that came while standing still. */
  fresh = 0;
  /** Whether a page of history is on its way. */
  loading = false;
  /** Why the last page did not come. */
  trouble = "";

  #place;
  #options;
  #history;
  #onChange;
  #screen;
  #writer;
  #fills = 0;
  #filling = false;
  #sizes = new ResizeObserver(() => this.fit());

  /**
   * @param {HTMLElement} place
   * @param {OutputOptions} options
   * @param {History} history
   * @param {() => void} onChange
   */
  constructor(place, options, history, onChange) {
    this.#place = place;
    this.#options = options;
    this.#history = history;
    this.#onChange = onChange;
    [this.#screen, this.#writer] = this.#build(LIVE_LINES, false);
    this.#sizes.observe(place);
  }

  get backlog() {
    return this.#writer.backlog;
  }

  get search() {
    return this.#screen.search;
  }

  get terminal() {
    return this.#screen.terminal;
  }

  /** Whether the first line that is held is in view and more is above it. */
  get atStart() {
    return this.#screen.atStart && this.shown.after > 0;
  }

  /** Begin anew: events after `floor` follow. @param {number} floor */
  reset(floor) {
    this.shown.reset(floor);
    this.recent.reset(floor);
    this.following = true;
    this.fresh = 0;
    this.#fills = 0;
    this.#replace(...this.#build(LIVE_LINES, false));
  }

  /** Events in order; those that are known already change nothing. @param {RunEvent[]} events */
  take(events) {
    /** @type {Piece[]} */
    const news = [];
    for (const event of events) {
      if (event.sequence <= this.recent.through) continue;
      const piece = pieceOf(event);
      this.recent.append(event.sequence, piece);
      if (this.following) this.shown.append(event.sequence, piece);
      if (piece) news.push(piece);
    }
    this.recent.trimStart(RECENT_LENGTH);
    if (this.following) this.#writer.write(news);
    else for (const { text } of news) this.fresh += lines(text);
  }

  /** Show what is live. */
  follow() {
    if (this.recent.after <= this.shown.through) this.#append();
    else {
      this.shown.reset(this.recent.after);
      for (const piece of this.recent.list) this.shown.append(piece.sequence, piece);
      this.shown.through = this.recent.through;
      this.#replace(...this.#build(LIVE_LINES, false));
      this.#writer.write(this.shown.list);
      this.following = true;
      this.fresh = 0;
    }
    this.terminal.scrollToBottom();
    this.#onChange();
  }

  /** Go to the run's first line. */
  async toStart() {
    if (this.#filling) return;
    this.following = false;
    if (this.shown.after > 0) {
      const page = await this.#page(0, this.#pageEvents() + 1);
      if (!page) return;
      this.shown.reset(0);
      for (const piece of page.list) this.shown.append(piece.sequence, piece);
      this.shown.through = Math.min(page.through, this.recent.through);
      this.#filling = true;
      this.#replace(...this.#build(READING_LINES, false));
      this.#writer.write(page.list);
      await this.#writer.drained();
      this.#filling = false;
    }
    this.terminal.scrollToTop();
    this.#onChange();
  }

  /** @param {number} pages @param {number} [lines] */
  scroll(pages, lines = 0) {
    if (pages) this.terminal.scrollPages(pages);
    else this.terminal.scrollLines(lines);
  }

  /** Load a page of what is above, and stay where the person is. */
  async loadOlder() {
    if (this.loading || this.#filling) return;
    this.#filling = true;
    try {
      while (this.shown.after > 0) {
        const before = this.shown.after + 1;
        const page = await this.#page(Math.max(0, before - 1 - this.#pageEvents()), before);
        if (!page || this.shown.after + 1 !== before) return;
        const first = this.shown.list[0]?.sequence ?? before;
        this.shown.prepend(page.after, page.list);
        if (!page.list.length) continue;
        await this.#rebuild(page.list, first);
        return;
      }
    } finally {
      this.#filling = false;
      this.#onChange();
    }
  }

  fit() {
    if (this.#place.offsetParent !== null) this.#screen.fit();
  }

  /** @param {Partial<OutputOptions>} changes */
  change(changes) {
    this.#options = { ...this.#options, ...changes };
    this.#screen.change(changes);
  }

  dispose() {
    this.#sizes.disconnect();
    this.#writer.dispose();
    this.#screen.dispose();
  }

  /** How many events make about a page. */
  #pageEvents() {
    const { list, length } = this.recent;
    const each = list.length ? length / list.length : 200;
    return Math.min(2000, Math.max(16, Math.round(PAGE_LENGTH / Math.max(each, 1))));
  }

  /** @param {number} after @param {number} before */
  async #page(after, before) {
    this.loading = true;
    this.trouble = "";
    this.#onChange();
    try {
      const events = await this.#history(after, before);
      return { after, list: events.flatMap((event) => pieceOf(event) ?? []), through: before - 1 };
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
      return null;
    } finally {
      this.loading = false;
      this.#onChange();
    }
  }

  async #loadNewer() {
    const after = this.shown.through;
    const page = await this.#page(after, Math.min(after + 1 + this.#pageEvents(), this.recent.through + 1));
    if (!page || this.shown.through !== after || this.following) return;
    for (const piece of page.list) this.shown.append(piece.sequence, piece);
    this.shown.through = page.through;
    this.#writer.write(page.list);
  }

  /** What came while standing still goes below what is shown, without a gap. */
  #append() {
    const news = this.recent.later(this.shown.through);
    for (const piece of news) this.shown.append(piece.sequence, piece);
    this.shown.through = this.recent.through;
    this.following = true;
    this.fresh = 0;
    this.#writer.write(news);
  }

  /**
   * A new terminal with `older` above what was shown, put in place once it is complete, at the same line.
   *
   * @param {Piece[]} older
   * @param {number} first  the piece that was the first until now
   */
  async #rebuild(older, first) {
    const toEnd = this.following;
    this.following = false;
    this.shown.trimEnd(SHOWN_LENGTH);
    const line = this.#writer.lineOf(first) ?? 0;
    const offset = this.terminal.buffer.active.viewportY - line;
    const split = this.shown.list.findIndex((piece) => piece.sequence >= first);
    const [screen, writer] = this.#build(READING_LINES, true);
    writer.write(older);
    writer.markNext();
    writer.write(split < 0 ? [] : this.shown.list.slice(split));
    await writer.drained();
    if (toEnd) screen.terminal.scrollToBottom();
    else screen.terminal.scrollToLine(Math.max(0, (writer.lineOf(first) ?? 0) + offset));
    this.#replace(screen, writer);
    if (toEnd) this.#append();
    this.#onChange();
  }

  /**
   * @param {number} scrollback
   * @param {boolean} hidden  it is filled before it is seen
   * @returns {[Screen, Writer]}
   */
  #build(scrollback, hidden) {
    const box = document.createElement("div");
    box.className = hidden ? "screen filling" : "screen";
    this.#place.append(box);
    const screen = new Screen(box, { ...this.#options, scrollback });
    const writer = new Writer(screen.terminal, () => this.#writer === writer && this.#settled());
    screen.terminal.onRender(() => this.#screen === screen && this.#moved());
    return [screen, writer];
  }

  /** @param {Screen} screen @param {Writer} writer */
  #replace(screen, writer) {
    const old = this.#screen;
    this.#writer.dispose();
    this.#screen = screen;
    this.#writer = writer;
    screen.terminal.element?.parentElement?.classList.remove("filling");
    const box = old.terminal.element?.parentElement;
    old.dispose();
    box?.remove();
    this.fit();
  }

  /** Everything that was given is on the screen. */
  #settled() {
    const oldest = this.#writer.oldest();
    const first = this.shown.list[0]?.sequence ?? Infinity;
    if (oldest && first < oldest.sequence) this.shown.dropThrough(oldest.sequence - 1);
    if (this.following && this.shown.after > 0 && this.terminal.buffer.active.baseY === 0 && this.#fills < FILLS) {
      this.#fills += 1;
      void this.loadOlder();
    }
    this.#onChange();
  }

  /** The view moved, or more was drawn. */
  #moved() {
    const { atEnd, atStart } = this.#screen;
    if (this.following && !atEnd) {
      this.following = false;
      this.fresh = 0;
      this.#onChange();
    } else if (!this.following && atEnd && !this.loading && !this.#filling && !this.#writer.backlog) {
      if (this.recent.after <= this.shown.through) this.#append();
      else void this.#loadNewer();
      this.#onChange();
    } else if (!this.following && atStart && !this.#filling && !this.trouble) {
      void this.loadOlder();
    }
  }
}

/** @param {string} text */
function lines(text) {
  let found = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) found += 1;
  return found;
}
