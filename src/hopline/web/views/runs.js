/** The first view: every run, what waits for a person first. */

import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { live } from "../vendor/lit-html/directives/live.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { announce } from "../shell/announce.js";
import { copyable } from "../shell/copy.js";
import { nextTheme, wasSeen } from "../shell/settings.js";
import { endedAt, inPlace, isWrong, matches, ordered, tally } from "../state/order.js";
import { absolute, age, ago, count, isQuestion, shown, size, stateOf, toneOfRow } from "../state/words.js";
import { icon, mark, sparkline } from "./marks.js";

/** @import { Listing } from "../wire/listing.js" */
/** @import { Row } from "../wire/types.js" */

export class RunsPage {
  #root;
  #listing;
  #search = "";
  /** @type {string[]} the ids in the places they had when they were last free to move */
  #places = [];
  /** Whether a pointer or a focus is on the rows. */
  #held = false;
  /** @type {Map<string, string>} what was last announced of each run */
  #announced = new Map();

  /** @param {HTMLElement} root @param {Listing} listing */
  constructor(root, listing) {
    this.#root = root;
    this.#listing = listing;
  }

  get title() {
    return "hopline";
  }

  update() {
    const now = Date.now() + this.#listing.skew;
    const rows = [...this.#listing.rows.values()];
    this.#announce(rows);
    const sorted = ordered(rows, now, wasSeen);
    const placed = this.#held ? inPlace(this.#places, sorted) : sorted;
    this.#places = placed.map((row) => row.id);
    const found = this.#search.trim() ? placed.filter((row) => matches(row, this.#search.trim())) : placed;
    render(this.#template(rows, found, now), this.#root);
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether it meant something here */
  key(event) {
    const links = /** @type {HTMLElement[]} */ ([...this.#root.querySelectorAll("a.run")]);
    const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    switch (event.key) {
      case "/":
        this.#root.querySelector("input")?.focus();
        return true;
      case "j":
      case "ArrowDown":
        links[Math.min(at + 1, links.length - 1)]?.focus();
        return true;
      case "k":
      case "ArrowUp":
        links[Math.max(at - 1, 0)]?.focus();
        return true;
      case "g":
        links[0]?.focus();
        return true;
      case "G":
        links.at(-1)?.focus();
        return true;
      case "Escape":
        if (!this.#search) return false;
        this.#search = "";
        this.update();
        return true;
      default:
        return false;
    }
  }

  dispose() {
    render(nothing, this.#root);
  }

  /** @param {Row[]} rows @param {Row[]} found @param {number} now */
  #template(rows, found, now) {
    const { hostname, known, older, unreadable } = this.#listing;
    return html`
      <header class="bar">
        <h1><span class="brand">hopline</span> ${hostname ? html`<span class="host">${hostname}</span>` : nothing}</h1>
        ${this.#gateway()} ${known ? summary(rows, now) : nothing}
        <label class="search">
          <span class="hidden">Search runs</span>
          <input
            type="search"
            placeholder="Search runs"
            autocomplete="off"
            spellcheck="false"
            .value=${live(this.#search)}
            @input=${(/** @type {InputEvent} */ event) => this.#searched(event)}
          />
          <kbd>/</kbd>
        </label>
        <button type="button" class="quiet icon" aria-label="Light or dark" title="Light or dark" @click=${nextTheme}>${icon("theme")}</button>
      </header>
      <main
        id="main"
        @pointerenter=${() => this.#hold(true)}
        @pointerleave=${() => this.#hold(false)}
        @focusin=${() => this.#hold(true)}
        @focusout=${() => this.#hold(false)}
      >
        ${known && !rows.length ? empty() : this.#table(found, now)}
        ${known && rows.length && !found.length
          ? html`<p class="note">No run matches “${this.#search}”. <button type="button" class="link" @click=${() => this.#clear()}>Show all</button></p>`
          : nothing}
        ${older && !this.#search ? html`<p class="note">${count(older, "older run")} not listed: ${copyable("hopline ls --all")}</p>` : nothing}
        ${unreadable.length
          ? html`<p class="note wrong">${count(unreadable.length, "run")} cannot be read (${unreadable.join(", ")}): ${copyable("hopline doctor")}</p>`
          : nothing}
      </main>
    `;
  }

  /** The truth about the listing itself: nothing when it is live. */
  #gateway() {
    const { phase, retryAt } = this.#listing;
    const seconds = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
    switch (phase) {
      case "live":
        return html`<span class="claim live" role="status"><i></i>live</span>`;
      case "opening":
        return html`<span class="claim busy"><i></i>opening</span>`;
      case "refused":
        return html`<span class="claim lost" role="status"><i></i>this page's session is over: run ${copyable("hopline web")} and open its URL</span>`;
      default:
        return html`<span class="claim lost"><i></i>gateway unreachable, retrying in ${seconds} s</span>`;
    }
  }

  /** @param {Row[]} found @param {number} now */
  #table(found, now) {
    if (!found.length) return nothing;
    return html`<ul class="runs" aria-label="Runs">
      ${repeat(
        found,
        (row) => row.id,
        (row) => html`<li class=${isWrong(row, now, wasSeen) ? "unseen" : ""}>${entry(row, now)} ${answer(row)}</li>`,
      )}
    </ul>`;
  }

  /** @param {boolean} held */
  #hold(held) {
    const inside = this.#root.querySelector("main")?.matches(":hover, :focus-within") ?? false;
    if (this.#held === (held || inside)) return;
    this.#held = held || inside;
    if (!this.#held) this.update();
  }

  /** @param {InputEvent} event */
  #searched(event) {
    this.#search = /** @type {HTMLInputElement} */ (event.target).value;
    this.update();
  }

  #clear() {
    this.#search = "";
    this.update();
  }

  /** @param {Row[]} rows */
  #announce(rows) {
    const first = this.#announced.size === 0;
    const news = [];
    for (const row of rows) {
      const state = stateOf(row);
      if (this.#announced.get(row.id) !== state) news.push(`${row.name}: ${state}`);
      this.#announced.set(row.id, state);
    }
    if (!first && news.length) announce(news.slice(0, 3).join(". "));
  }
}

/** @param {Row[]} rows @param {number} now */
function summary(rows, now) {
  const { running, waiting, endedToday } = tally(rows, now);
  return html`<p class="summary">
    <span>${running} running</span>
    <span class=${waiting ? "waiting" : ""}>${waiting} waiting for you</span>
    <span>${endedToday} ended today</span>
  </p>`;
}

/** @param {Row} row @param {number} now */
function entry(row, now) {
  const tone = toneOfRow(row);
  const started = Date.parse(row.started_at);
  const over = !row.live;
  const ended = endedAt(row);
  const when = over ? ago(now - ended) : age(now - started);
  const title = over
    ? `started ${absolute(row.started_at)}, ended ${absolute(row.ended_at ?? row.started_at)}, ran ${age(ended - started)}`
    : `started ${absolute(row.started_at)}`;
  return html`<a class="run ${tone} ${over ? "over" : ""}" href="#/runs/${row.id}">
    ${mark(tone)}
    <span class="name">${row.name}</span>
    <span class="state">${stateOf(row)}</span>
    <code class="command">${shown(row.command)}</code>
    <time class="when" datetime=${row.started_at} title=${title}>${when}</time>
    <span class="size" title="recorded in its journal">${size(row.bytes)}</span>
    <span class="rate">${sparkline(row.rates)}</span>
  </a>`;
}

/** The way to where a question is answered. @param {Row} row */
function answer(row) {
  if (!row.live || !isQuestion(row.waiting)) return nothing;
  return html`<a class="answer" href="#/runs/${row.id}/answer" aria-label="Answer ${row.name}">Answer</a>`;
}

function empty() {
  return html`<section class="empty">
    <h2>No runs yet</h2>
    <p>Start one in a terminal; it shows up here at once:</p>
    ${copyable("hopline run --detach --name first -- your-command")}
  </section>`;
}
