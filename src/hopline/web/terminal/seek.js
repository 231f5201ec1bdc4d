/** Looks for words in the output above what the terminal holds, a page at a time and in bounded steps. */

import { Pages } from "./pages.js";

/** @import { History, Page } from "./pages.js" */
/** @import { Pieces } from "./pieces.js" */

/** Events that one step looks through, about. */
export const STEP_EVENTS = 20_000;

/** What a terminal takes as instructions: CSI, OSC and the rest of the escape sequences, as far as words go. */
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;

export class Seek {
  /** Whether a step is under way. */
  looking = false;
  /** Everything after this event has been looked through; null before the first step. @type {number | null} */
  at = null;
  /** Why the last step ended early. */
  trouble = "";

  #pages;
  #onChange;
  #turn = 0;
  /** The page after the one that is looked at, since words may lie across their border. @type {Page | null} */
  #below = null;

  /** @param {History} history @param {() => void} onChange */
  constructor(history, onChange) {
    this.#pages = new Pages(history, () => {});
    this.#onChange = onChange;
  }

  /** Other words, or another place: begin anew. */
  reset() {
    this.cancel();
    this.at = null;
    this.trouble = "";
    this.#below = null;
  }

  /** Leave the step under way; what was looked through stays so. */
  cancel() {
    this.#turn += 1;
    this.looking = false;
  }

  /**
   * One step up.
   *
   * @param {string} words
   * @param {number} from  what is held begins after this event
   * @param {Pieces} recent  judges how many events make a page
   * @returns {Promise<Page | null>} where the words were found: that page and the one below it
   */
  async step(words, from, recent) {
    const turn = ++this.#turn;
    const wanted = words.toLowerCase();
    this.at ??= from;
    const end = Math.max(0, this.at - STEP_EVENTS);
    this.looking = true;
    this.trouble = "";
    this.#onChange();
    while (this.at > end) {
      const after = Math.max(0, this.at - this.#pages.events(recent));
      const page = await this.#pages.between(after, this.at + 1);
      if (turn !== this.#turn) return null;
      if (!page) {
        this.trouble = this.#pages.trouble;
        break;
      }
      this.at = after;
      const whole = joined(page, this.#below);
      this.#below = page;
      if (plain(whole).toLowerCase().includes(wanted)) {
        this.looking = false;
        return whole;
      }
      this.#onChange();
    }
    this.looking = false;
    this.#onChange();
    return null;
  }
}

/** @param {Page} page @param {Page | null} below @returns {Page} */
function joined(page, below) {
  return below ? { after: page.after, through: below.through, list: [...page.list, ...below.list] } : page;
}

/** @param {Page} page @returns {string} its words, without what colours and moves them */
export function plain({ list }) {
  return list.map((piece) => piece.text).join("").replaceAll(ESCAPES, "");
}
