/** Find in the output: what the terminal holds, and on request what is above it. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { isDark } from "../shell/settings.js";
import { count, number } from "../state/words.js";
import { Seek } from "../terminal/seek.js";

/** @import { History } from "../terminal/pages.js" */
/** @import { Output } from "../terminal/output.js" */

export class Find {
  open = false;
  text = "";
  /** @type {{ resultIndex: number, resultCount: number } | null} */
  results = null;
  #onChange;
  /** @type {Output | null} */
  #output = null;
  /** @type {unknown} */
  #listening = null;

  #seek;

  /** @param {History} history @param {() => void} onChange */
  constructor(history, onChange) {
    this.#onChange = onChange;
    this.#seek = new Seek(history, onChange);
  }

  /** @param {Output} output */
  begin(output) {
    this.#output = output;
    this.open = true;
    this.#onChange();
    const field = /** @type {HTMLInputElement | null} */ (document.querySelector(".find input"));
    field?.focus();
    field?.select();
  }

  end() {
    this.open = false;
    this.results = null;
    this.#seek.reset();
    this.#output?.search.clearDecorations();
    this.#onChange();
  }

  /** @param {"next" | "previous"} direction @param {boolean} [incremental] */
  go(direction, incremental = false) {
    const search = this.#output?.search;
    if (!search) return;
    if (this.#listening !== search) {
      this.#listening = search;
      search.onDidChangeResults((results) => ((this.results = results), this.#onChange()));
    }
    const dark = isDark();
    const options = {
      incremental,
      decorations: {
        matchBackground: dark ? "#4d3f12" : "#fbe7a1",
        matchOverviewRuler: "#00000000",
        activeMatchBackground: dark ? "#8f6a00" : "#f2b705",
        activeMatchColorOverviewRuler: "#00000000",
      },
    };
    if (!this.text) search.clearDecorations();
    else if (direction === "next") search.findNext(this.text, options);
    else search.findPrevious(this.text, options);
  }

  /** Look above what is held, one bounded step; what is found is shown. */
  async above() {
    const output = this.#output;
    if (!output || !this.text || this.#seek.looking) return;
    const found = await this.#seek.step(this.text, output.shown.after, output.recent);
    if (!found) return;
    await output.show(found);
    this.#seek.reset();
    this.go("previous");
    this.#onChange();
  }

  template() {
    if (!this.open) return nothing;
    const { results } = this;
    const found = !this.text || !results ? "" : results.resultCount ? `${number(results.resultIndex + 1)} of ${number(results.resultCount)}` : "none";
    return html`<form class="find" role="search" @submit=${(/** @type {Event} */ event) => (event.preventDefault(), this.go("previous"))}>
      <input
        type="search"
        aria-label="Find in the output"
        placeholder="Find in what is loaded"
        autocomplete="off"
        spellcheck="false"
        .value=${this.text}
        @input=${(/** @type {InputEvent} */ event) => this.#typed(event)}
        @keydown=${(/** @type {KeyboardEvent} */ event) => this.#key(event)}
      />
      <span class="found" role="status">${found}</span>
      <button type="submit" class="quiet icon" aria-label="Previous" title="Previous (Enter)">↑</button>
      <button type="button" class="quiet icon" aria-label="Next" title="Next (Shift+Enter)" @click=${() => this.go("next")}>↓</button>
      <button type="button" class="quiet icon" aria-label="Close" @click=${() => this.end()}>✕</button>
      ${this.#beyond()}
    </form>`;
  }

  /** What is not searched, since the terminal does not hold it. */
  #beyond() {
    const { shown, recent } = this.#output ?? {};
    if (!shown || !recent) return nothing;
    const { looking, at, trouble } = this.#seek;
    const below = shown.through < recent.through ? html`<span>${count(recent.through - shown.through, "newer event")} not searched: G goes to live</span>` : nothing;
    const left = at ?? shown.after;
    if (looking) {
      return html`<p class="beyond">
        <span role="status">searching above, back at event ${number(left)}…</span>
        <button type="button" @click=${() => (this.#seek.cancel(), this.#onChange())}>Cancel</button>
      </p>`;
    }
    if (shown.after === 0) return below === nothing ? nothing : html`<p class="beyond">${below}</p>`;
    const state = trouble
      ? `it did not come (${trouble})`
      : at === null
        ? `${count(left, "earlier event")} not searched`
        : left
          ? `not above either, back to event ${number(left)}`
          : "not above either: all is searched";
    return html`<p class="beyond">
      <span role="status">${state}</span> ${below}
      ${left && this.text ? html`<button type="button" @click=${() => void this.above()}>${at === null ? "Search above" : "Search on"}</button>` : nothing}
    </p>`;
  }

  /** @param {InputEvent} event */
  #typed(event) {
    this.text = /** @type {HTMLInputElement} */ (event.target).value;
    this.#seek.reset();
    this.go("previous", true);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape") this.end();
    else if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      this.go("next");
    } else return;
    event.stopPropagation();
  }
}
