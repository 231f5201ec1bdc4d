/**
 * A run's output as a person reads it: it follows what is live, stands still while they read further up, loads what is
 * above as they scroll, and always knows which events it shows.
 *
 * `shown` is what the terminal holds; `recent` is the newest output, kept whether it is shown or not, so that coming back
 * to live needs nobody else.
 */

import { Pages } from "./pages.js";
import { linesIn, Pieces, pieceOf } from "./pieces.js";
import { View } from "./view.js";

/** @import { RunEvent } from "../wire/types.js" */
/** @import { History, Page } from "./pages.js" */
/** @import { Piece } from "./pieces.js" */
/** @import { ScreenOptions } from "./screen.js" */

/** Lines kept while following. */
const LIVE_LINES = 20_000;
/** Lines kept while reading what is further up. */
const READING_LINES = 100_000;
/** Characters that one terminal shows at most. */
const SHOWN_LENGTH = 6_000_000;
const RECENT_LENGTH = 1_000_000;
/** How often output that does not fill the window is filled up from above without being asked. */
const FILLS = 3;

/** @typedef {Omit<ScreenOptions, "scrollback">} OutputOptions */

export class Output {
  shown = new Pieces();
  recent = new Pieces();
  /** Whether what comes is shown at once. */
  following = true;
  /** Lines that came while standing still. */
  fresh = 0;
  pages;

  #place;
  #options;
  #onChange;
  /** @type {View} */
  #view;
  #fills = 0;
  #filling = false;
  /** Changes whenever what is shown begins anew, so that what was on its way for the old is dropped. */
  #epoch = 0;
  #sizes = new ResizeObserver(() => void this.fit());

  /**
   * @param {HTMLElement} place
   * @param {OutputOptions} options
   * @param {History} history
   * @param {() => void} onChange
   */
  constructor(place, options, history, onChange) {
    this.#place = place;
    this.#options = options;
    this.pages = new Pages(history, onChange);
    this.#onChange = onChange;
    this.#view = this.#build(LIVE_LINES, false);
    this.#sizes.observe(place);
  }

  get backlog() {
    return this.#view.writer.backlog;
  }

  /** How large a terminal fits this place. */
  get room() {
    return this.#view.screen.room;
  }

  get search() {
    return this.#view.screen.search;
  }

  get terminal() {
    return this.#view.screen.terminal;
  }

  /** Whether the first line that is held is in view and more is above it. */
  get atStart() {
    return this.#view.screen.atStart && this.shown.after > 0;
  }

  /** Begin anew: events after `floor` follow. @param {number} floor */
  reset(floor) {
    this.shown.reset(floor);
    this.recent.reset(floor);
    this.following = true;
    this.fresh = 0;
    this.#fills = 0;
    this.#anew(LIVE_LINES);
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
    if (this.following) this.#view.writer.write(news);
    else for (const { text } of news) this.fresh += linesIn(text);
  }

  /** Show what is live. */
  follow() {
    if (this.recent.after <= this.shown.through) this.#append();
    else {
      this.shown.reset(this.recent.after);
      this.shown.extend(this.recent.list, this.recent.through);
      this.#anew(LIVE_LINES);
      this.#view.writer.write(this.shown.list);
      this.following = true;
      this.fresh = 0;
    }
    this.terminal.scrollToBottom();
    this.#onChange();
  }

  /** Go to the run's first line. */
  async toStart() {
    if (this.pages.loading) return;
    this.following = false;
    if (this.shown.after > 0) {
      const epoch = ++this.#epoch;
      const page = await this.pages.between(0, this.pages.events(this.recent) + 1);
      if (!page || epoch !== this.#epoch) return;
      await this.show(page);
    }
    this.terminal.scrollToTop();
    this.#onChange();
  }

  /** Show a page of history, wherever it is, and stand still there. @param {Page} page */
  async show({ after, through, list }) {
    this.following = false;
    this.shown.reset(after);
    this.shown.extend(list, Math.min(through, this.recent.through));
    this.#anew(READING_LINES);
    const epoch = this.#epoch;
    this.#filling = true;
    this.#view.writer.write(list);
    await this.#view.writer.drained();
    if (epoch === this.#epoch) this.#filling = false;
  }

  /** @param {number} pages @param {number} [lines] */
  scroll(pages, lines = 0) {
    if (pages) this.terminal.scrollPages(pages);
    else this.terminal.scrollLines(lines);
  }

  /** Load a page of what is above, and stay where the person is. */
  async loadOlder() {
    if (this.pages.loading || this.#filling) return;
    const epoch = this.#epoch;
    this.#filling = true;
    try {
      while (this.shown.after > 0) {
        const before = this.shown.after + 1;
        const page = await this.pages.between(Math.max(0, before - 1 - this.pages.events(this.recent)), before);
        if (!page || epoch !== this.#epoch || this.shown.after + 1 !== before) return;
        const first = this.shown.list[0]?.sequence ?? before;
        this.shown.prepend(page.after, page.list);
        if (!page.list.length) continue;
        await this.#rebuild(page.list, first);
        return;
      }
    } finally {
      if (epoch === this.#epoch) this.#filling = false;
      this.#onChange();
    }
  }

  fit = () => this.#place.offsetParent !== null && this.#view.screen.fit();

  /** @param {Partial<OutputOptions>} changes */
  change(changes) {
    this.#options = { ...this.#options, ...changes };
    this.#view.screen.change(changes);
  }

  dispose() {
    this.#sizes.disconnect();
    this.#view.dispose();
  }

  async #loadNewer() {
    if (this.pages.loading) return;
    const after = this.shown.through;
    const page = await this.pages.between(after, Math.min(after + 1 + this.pages.events(this.recent), this.recent.through + 1));
    if (!page || this.shown.through !== after || this.following) return;
    this.shown.extend(page.list, page.through);
    this.#view.writer.write(page.list);
  }

  /** What came while standing still goes below what is shown, without a gap. */
  #append() {
    const news = this.recent.later(this.shown.through);
    this.shown.extend(news, this.recent.through);
    this.following = true;
    this.fresh = 0;
    this.#view.writer.write(news);
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
    const split = this.shown.list.findIndex((piece) => piece.sequence >= first);
    const epoch = this.#epoch;
    const view = this.#build(READING_LINES, true);
    const { terminal, writer } = view;
    writer.write(older);
    writer.markNext();
    writer.write(split < 0 ? [] : this.shown.list.slice(split));
    await writer.drained();
    if (epoch !== this.#epoch) {
      view.dispose();
      return;
    }
    const offset = this.terminal.buffer.active.viewportY - (this.#view.writer.lineOf(first) ?? 0);
    terminal.scrollToLine(Math.max(0, (writer.lineOf(first) ?? 0) + offset));
    this.#replace(view);
    writer.write(this.shown.later(writer.written));
    if (toEnd) this.#append();
    if (this.following) terminal.scrollToBottom();
    this.#onChange();
  }

  /** An empty terminal for what is shown from now on. @param {number} scrollback */
  #anew(scrollback) {
    this.#epoch += 1;
    this.#filling = false;
    this.#replace(this.#build(scrollback, false));
  }

  /** @param {number} scrollback @param {boolean} hidden  it is filled before it is seen */
  #build(scrollback, hidden) {
    return new View(
      this.#place,
      { ...this.#options, scrollback },
      hidden,
      (view) => this.#view === view && this.#settled(),
      (view) => this.#view === view && this.#moved(),
    );
  }

  /** @param {View} view */
  #replace(view) {
    const old = this.#view;
    this.#view = view;
    view.reveal();
    old.dispose();
    this.fit();
  }

  /** Everything that was given is on the screen. */
  #settled() {
    const oldest = this.#view.writer.oldest();
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
    const { atEnd, atStart } = this.#view.screen;
    if (this.following && !atEnd) {
      this.following = false;
      this.fresh = 0;
      this.#onChange();
    } else if (!this.following && atEnd && !this.#filling && !this.#view.writer.backlog) {
      if (this.recent.after <= this.shown.through) this.#append();
      else void this.#loadNewer();
      this.#onChange();
    } else if (!this.following && atStart && !this.#filling && !this.pages.trouble) {
      void this.loadOlder();
    }
  }
}
