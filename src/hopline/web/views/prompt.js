/** The line that goes to the worker's input, with what became of the last one. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";

/** @import { Steering } from "./steering.js" */

const REMEMBERED = 100;

export class Prompt {
  #steering;
  #onChange;
  /** @type {string[]} */
  #past = [];
  #back = 0;
  /** Whether the worker of this generation was told that nothing more comes. */
  #endedFor = 0;
  /** How many lines are on their way. */
  #sending = 0;

  /** @param {Steering} steering @param {() => void} onChange */
  constructor(steering, onChange) {
    this.#steering = steering;
    this.#onChange = onChange;
  }

  focus() {
    /** @type {HTMLInputElement | null} */ (document.querySelector(".prompt input"))?.focus();
  }

  /** @param {boolean} over */
  template(over) {
    const ended = this.#endedFor === this.#steering.generation;
    const closed = over || ended;
    const hint = over ? "the run has ended" : ended ? "its input is ended" : "input to the worker";
    return html`<form class="prompt" aria-label="Input" autocomplete="off" @submit=${(/** @type {Event} */ event) => this.#send(event)}>
      <span aria-hidden="true">›</span>
      <input
        type="text"
        aria-label="Input to the worker"
        placeholder=${hint}
        autocapitalize="off"
        autocomplete="off"
        spellcheck="false"
        enterkeyhint="send"
        ?disabled=${closed}
        @keydown=${(/** @type {KeyboardEvent} */ event) => this.#key(event)}
      />
      ${this.#sending ? html`<span class="pending" role="status">${this.#sending > 1 ? `${this.#sending} lines are` : "it is"} not taken yet</span>` : nothing}
      <button type="submit" class="primary" ?disabled=${closed}>Send</button>
      <button type="button" title="End the worker's input" ?disabled=${closed} @click=${() => this.#end()}>EOF</button>
    </form>`;
  }

  /** @param {Event} event */
  async #send(event) {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (/** @type {HTMLFormElement} */ (event.currentTarget).querySelector("input"));
    const line = field.value;
    field.value = "";
    if (line) this.#past = [...this.#past.filter((one) => one !== line), line].slice(-REMEMBERED);
    this.#back = 0;
    this.#sending += 1;
    const taken = await this.#steering.input(`${line}${this.#steering.lineEnd}`);
    this.#sending -= 1;
    if (!taken && field.value === "") field.value = line;
    this.#onChange();
  }

  async #end() {
    const { generation } = this.#steering;
    // A terminal's end of input is for whoever reads just then; more may follow.
    if ((await this.#steering.endInput()) && this.#steering.lineEnd === "\n") this.#endedFor = generation;
    this.#onChange();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const field = /** @type {HTMLInputElement} */ (event.currentTarget);
    if (event.key === "Escape") field.blur();
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      this.#back = Math.min(Math.max(0, this.#back + (event.key === "ArrowUp" ? 1 : -1)), this.#past.length);
      field.value = this.#past.at(-this.#back || this.#past.length) ?? "";
      if (this.#back === 0) field.value = "";
      event.preventDefault();
    } else return;
    event.stopPropagation();
  }
}
