/** A terminal in a box of its own with what writes into it: built, filled out of sight if need be, put in place, thrown away. */

import { Screen } from "./screen.js";
import { Writer } from "./writer.js";

/** @import { ScreenOptions } from "./screen.js" */

export class View {
  screen;
  writer;
  #box = document.createElement("div");

  /**
   * @param {HTMLElement} place
   * @param {ScreenOptions} options
   * @param {boolean} hidden  it is filled before it is seen
   * @param {(view: View) => void} onDrained  everything that was given is on the screen
   * @param {(view: View) => void} onRender
   */
  constructor(place, options, hidden, onDrained, onRender) {
    this.#box.className = hidden ? "screen filling" : "screen";
    place.append(this.#box);
    this.screen = new Screen(this.#box, options);
    this.writer = new Writer(this.screen.terminal, () => onDrained(this));
    this.screen.terminal.onRender(() => onRender(this));
  }

  get terminal() {
    return this.screen.terminal;
  }

  /** Let it be seen. */
  reveal() {
    this.#box.classList.remove("filling");
  }

  dispose() {
    this.writer.dispose();
    this.screen.dispose();
    this.#box.remove();
  }
}
