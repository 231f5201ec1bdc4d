/** What stands above a run's output: what it is, how true what is shown is, the tabs and the controls. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { isSteerable } from "../state/run.js";
import { exactAge, money, outcome, size, toneOf } from "../state/words.js";
import { nextTheme, settings } from "../shell/settings.js";
import { icon, mark } from "./marks.js";

/** @import { Claim } from "../state/claim.js" */
/** @import { RunPage, Tab } from "./run.js" */

/** @param {RunPage} page @param {Claim | null} claim @param {number} now */
export function heading(page, claim, now) {
  const { row, follower, status } = page;
  const run = follower?.run;
  const waiting = row?.waiting ?? null;
  const tone = toneOf(status, waiting !== null || page.asked !== null);
  const words = row && !row.live && row.status !== "interrupted" ? outcome(row) : status;
  const started = row?.started_at ?? run?.startedAt;
  const ended = row?.ended_at ?? run?.endedAt;
  const cost = follower && follower.log.after === 0 ? follower.agents.trace.spent.cost : null;
  const facts = [
    run && isSteerable(run) ? run.loop : "command",
    started ? exactAge((ended ? Date.parse(ended) : now) - Date.parse(started)) : "",
    cost === null ? "" : money(cost),
    row ? size(row.bytes) : "",
    run && run.generations > 1 ? `generation ${run.generations}` : "",
  ].filter(Boolean);
  return html`<header class="bar run-bar">
    <a class="back" href="#/" aria-label="All runs" title="All runs (Esc)">‹</a>
    ${mark(tone)}
    <h1>${page.name}</h1>
    <p class="summary">
      <span class="state ${tone}">${page.asked !== null ? "waiting for you" : waiting ? `waiting: ${waiting}` : words}</span>
      ${facts.map((fact) => html`<span>${fact}</span>`)}
      ${page.outputTitle ? html`<span class="output-title" title="the output's own title">${page.outputTitle}</span>` : nothing}
    </p>
    ${claim
      ? html`<p class="claim ${claim.tone}" title=${claim.detail}>
          <i></i><span>${claim.text}</span>${claim.detail ? html`<span class="detail">· ${claim.detail}</span>` : nothing}
        </p>`
      : nothing}
    <div class="actions">
      <button type="button" class="quiet icon" aria-label="Find" title="Find in the output (/)" @click=${() => page.find()}>${icon("find")}</button>
      ${page.size ? terminalSize(page) : wrapping(page)}
      <button type="button" class="quiet icon" aria-label="Light or dark" title="Light or dark (t)" @click=${nextTheme}>${icon("theme")}</button>
      <button type="button" class="quiet icon keys-button" aria-label="Keys" title="Keys (?)" @click=${() => page.showKeys()}>?</button>
    </div>
  </header>`;
}

/** @param {RunPage} page */
function terminalSize(page) {
  const { columns, rows } = page.size ?? { columns: 0, rows: 0 };
  return html`<button
    type="button"
    class="quiet wrap"
    ?disabled=${page.isOver}
    aria-label="Size of the worker's terminal: ${columns} by ${rows}"
    title="The worker's terminal is ${columns} by ${rows}; press to give it the size of this window"
    @click=${() => page.resize()}
  >
    ${columns}×${rows}
  </button>`;
}

/** @param {RunPage} page */
function wrapping(page) {
  return html`<button
        type="button"
        class="quiet wrap"
        aria-label="Wrap lines"
        aria-pressed=${!settings.pan}
        title=${settings.pan ? "Lines keep their width; press to wrap them" : "Lines wrap at the edge; press to pan instead"}
        @click=${() => page.togglePan()}
      >
        ${settings.pan ? "pan" : "wrap"}
      </button>`;
}

/** What a person is asked, over everything, with the way to where an answer goes. @param {RunPage} page */
export function question(page) {
  const { asked } = page;
  if (asked === null) return nothing;
  return html`<section class="question" role="status" aria-label="Waiting for you">
    ${mark("waiting")}
    <p><strong>Waiting for you</strong> <span>${asked}</span></p>
    <button type="button" @click=${() => page.answer()}>Answer</button>
  </section>`;
}

/** @param {RunPage} page */
export function tabs(page) {
  /** @type {[Tab, string][]} */
  const names = [
    ["output", "Output"],
    ["turns", "Turns"],
    ["trace", "Trace"],
    ["events", "Events"],
    ["proven", "Proven"],
  ];
  return html`<nav class="tabs" aria-label="Views">
    ${names.map(
      ([tab, name]) =>
        html`<button
          type="button"
          class=${tab}
          aria-current=${page.tab === tab ? "page" : nothing}
          @click=${() => page.select(tab)}
        >
          ${name}
        </button>`,
    )}
  </nav>`;
}
