/** One xterm.js terminal as this page wants it: output only, links with care, find, text of any script. */

import { FitAddon } from "../vendor/addon-fit/addon-fit.mjs";
import { SearchAddon } from "../vendor/addon-search/addon-search.mjs";
import { Unicode11Addon } from "../vendor/addon-unicode11/addon-unicode11.mjs";
import { WebLinksAddon } from "../vendor/addon-web-links/addon-web-links.mjs";
import { Terminal } from "../vendor/xterm/xterm.mjs";
import { allowTerminalStyles } from "./csp.js";
import { palette } from "./palette.js";
import { silence } from "./silence.js";

/** Columns in panning mode: what most programs are written for. */
export const PAN_COLUMNS = 120;

const MIN_COLUMNS = 20;

const MONO = 'ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** @typedef {{ columns: number, rows: number }} Size */

/**
 * @typedef {object} ScreenOptions
 * @property {boolean} dark
 * @property {boolean} pan  keep PAN_COLUMNS and pan sideways, instead of wrapping at the window's width
 * @property {boolean} spoken  whether a screen reader reads the output
 * @property {number} scrollback  lines
 * @property {(url: string) => void} onLink  a link is pointed at; "" when it is left
 * @property {(title: string) => void} onTitle
 * @property {Size | null} pty  the size of the worker's own terminal, which is kept; null when it writes to a pipe
 * @property {(keys: string) => void} onKeys  what a person typed, for the worker's terminal
 */

export class Screen {
  terminal;
  search = new SearchAddon({ highlightLimit: 500 });
  #fit = new FitAddon();
  #options;

  /**
   * @param {HTMLElement} place
   * @param {ScreenOptions} options
   */
  constructor(place, options) {
    allowTerminalStyles();
    this.#options = options;
    const hover = { hover: (/** @type {unknown} */ _, /** @type {string} */ url) => options.onLink(url), leave: () => options.onLink("") };
    this.terminal = new Terminal({
      allowProposedApi: true,
      convertEol: options.pty === null,
      cursorInactiveStyle: "outline",
      disableStdin: options.pty === null,
      drawBoldTextInBrightColors: false,
      fontFamily: MONO,
      fontSize: 13,
      lineHeight: 1.25,
      linkHandler: { activate: (_, url) => follow(url), ...hover },
      logLevel: "off",
      minimumContrastRatio: 4.5,
      overviewRuler: { width: 10 },
      screenReaderMode: options.spoken,
      scrollback: options.scrollback,
      scrollSensitivity: 2,
      theme: palette(options.dark, options.pty !== null),
    });
    this.terminal.loadAddon(this.#fit);
    this.terminal.loadAddon(this.search);
    this.terminal.loadAddon(new Unicode11Addon());
    this.terminal.loadAddon(new WebLinksAddon((_, url) => follow(url), hover));
    this.terminal.unicode.activeVersion = "11";
    this.terminal.attachCustomKeyEventHandler((event) => this.#isForWorker(event));
    silence(this.terminal);
    this.terminal.onData((keys) => this.#options.pty !== null && options.onKeys(keys));
    this.terminal.onTitleChange(options.onTitle);
    this.terminal.open(place);
    this.fit();
  }

  /** How much fits the place it is in; null while it is not shown. @returns {Size | null} */
  get room() {
    const proposed = this.#fit.proposeDimensions();
    if (!proposed || !Number.isFinite(proposed.cols) || proposed.rows < 1) return null;
    return { columns: Math.max(MIN_COLUMNS, proposed.cols), rows: proposed.rows };
  }

  /** Take the size of the worker's terminal, or of the place it is in. */
  fit() {
    const { pan, pty } = this.#options;
    const size = pty ?? this.room;
    if (!size) return;
    const columns = pan && !pty ? Math.max(PAN_COLUMNS, size.columns) : size.columns;
    if (columns !== this.terminal.cols || size.rows !== this.terminal.rows) this.terminal.resize(columns, size.rows);
  }

  /** @param {Partial<ScreenOptions>} changes */
  change(changes) {
    this.#options = { ...this.#options, ...changes };
    const { dark, pty } = this.#options;
    if (changes.dark !== undefined || changes.pty !== undefined) this.terminal.options.theme = palette(dark, pty !== null);
    if (changes.spoken !== undefined) this.terminal.options.screenReaderMode = changes.spoken;
    if (changes.pan !== undefined || changes.pty !== undefined) this.fit();
    if (changes.pty !== undefined) {
      this.terminal.options.convertEol = changes.pty === null;
      this.terminal.options.disableStdin = changes.pty === null;
    }
  }

  /** Whether the last line is in view. */
  get atEnd() {
    const { baseY, viewportY } = this.terminal.buffer.active;
    return viewportY >= baseY;
  }

  /** Whether the first line that is held is in view. */
  get atStart() {
    return this.terminal.buffer.active.viewportY === 0;
  }

  dispose() {
    this.terminal.dispose();
  }

  /** Keys go to a worker's terminal while it has the focus; Ctrl-\ leaves it, as it leaves `attach --raw`. @param {KeyboardEvent} event */
  #isForWorker(event) {
    if (this.#options.pty === null) return false;
    if (event.ctrlKey && event.key === "\\") {
      if (event.type === "keydown") this.terminal.blur();
      event.preventDefault();
      return false;
    }
    return true;
  }
}

/** Open a link of the output: the web only, in a tab that knows nothing of this one. @param {string} text */
function follow(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    return;
  }
  if (url.protocol === "https:" || url.protocol === "http:") window.open(url, "_blank", "noopener,noreferrer");
}
