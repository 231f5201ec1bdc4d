/** The trace: what the run did, as an indented tree, each step with its state, how long it took and what it cost. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { MAX_DEPTH } from "../state/trace.js";
import { absolute, count, exactAge, money, tokens } from "../state/words.js";
import { mark, toneOfStep } from "./marks.js";

/** @import { Step } from "../state/trace.js" */
/** @import { RunPage } from "./run.js" */

/** Lines drawn at most; the newest roots have them first. */
const DRAWN = 600;
/** Above this many lines, what is done and passed over is drawn closed. */
const OPEN = 120;

export class TraceView {
  /** @type {Set<string>} steps whose children are shown other than they would be by themselves */
  #toggled = new Set();

  /** @param {RunPage} page @param {number} now @param {() => void} onOlder */
  template(page, now, onOlder) {
    const { follower } = page;
    if (!follower) return nothing;
    const { agents, log } = follower;
    const roots = agents.tree;
    if (!roots.length) return html`<div class="trace"><p class="none">${nothingTraced(page)}</p>${log.older(onOlder)}</div>`;
    const total = roots.reduce((sum, root) => sum + lines(root, 0), 0);
    /** @type {Step[]} */
    const drawn = [];
    let room = DRAWN;
    for (const root of [...roots].reverse()) {
      if (drawn.length && room <= 0) break;
      drawn.unshift(root);
      room -= lines(root, 0);
    }
    const { spent } = agents.trace;
    const context = { now, many: total > OPEN, over: page.isOver, onChange: () => page.update() };
    const all = [count(total, "step"), spent.tokens ? tokens(spent.tokens) : "", spent.cost !== null ? money(spent.cost) : ""].filter(Boolean).join(" · ");
    return html`<div class="trace">
      <p class="none" role="note">${all}${log.after ? " in the events that are loaded" : ""}</p>
      ${roots.length > drawn.length ? html`<p class="none">${count(roots.length - drawn.length, "older root")} not drawn</p>` : nothing}
      <div class="step heads" aria-hidden="true"><span>step</span><span>state</span><span>took</span><span>tokens</span><span>cost</span></div>
      ${this.#list(drawn, context, 0, "Trace")} ${log.older(onOlder)}
    </div>`;
  }

  /**
   * @param {Step[]} steps
   * @param {{ now: number, many: boolean, over: boolean, onChange: () => void }} context
   * @param {number} depth
   * @param {string} [label]
   * @returns {unknown}
   */
  #list(steps, context, depth, label) {
    return html`<ul aria-label=${label ?? nothing}>
      ${repeat(
        steps,
        (step) => step.key,
        (step) => html`<li>${this.#step(step, context, depth)}</li>`,
      )}
    </ul>`;
  }

  /** @param {Step} step @param {{ now: number, many: boolean, over: boolean, onChange: () => void }} context @param {number} depth */
  #step(step, context, depth) {
    const goesOn = GOES_ON.has(step.state);
    const deeper = step.steps.length > 0 && depth < MAX_DEPTH;
    const open = deeper && (!context.many || goesOn || depth === 0) !== this.#toggled.has(step.key);
    const toggle = () => {
      if (!this.#toggled.delete(step.key)) this.#toggled.add(step.key);
      context.onChange();
    };
    const until = step.endedAt ? Date.parse(step.endedAt) : goesOn && !context.over ? context.now : null;
    const took = step.startedAt && until !== null ? exactAge(until - Date.parse(step.startedAt)) : "";
    const body = html`${mark(toneOfStep(step.state))}<span class="title">${step.title}</span>${step.kind ? html`<span class="kind">${step.kind}</span>` : nothing}`;
    return html`<div class="step" title=${step.startedAt ? `began ${absolute(step.startedAt)}` : nothing}>
        ${deeper
          ? html`<button type="button" class="what" aria-expanded=${open} @click=${toggle}><i aria-hidden="true"></i>${body}</button>`
          : html`<span class="what"><i aria-hidden="true"></i>${body}</span>`}
        <span class="state">${step.words}</span>
        <span class="figure" aria-label=${took ? `took ${took}` : nothing}>${took}</span>
        <span class="figure" aria-label=${step.spent.tokens ? tokens(step.spent.tokens) : nothing}>${step.spent.tokens ? tokens(step.spent.tokens, "") : ""}</span>
        <span class="figure" aria-label=${step.spent.cost !== null ? `cost ${money(step.spent.cost)}` : nothing}>${step.spent.cost !== null ? money(step.spent.cost) : ""}</span>
        ${step.detail ? html`<p class="detail ${step.state === "failed" ? "wrong" : ""}">${step.detail}</p>` : nothing}
      </div>
      ${open ? this.#list(step.steps, context, depth + 1) : nothing}`;
  }
}

const GOES_ON = new Set(["running", "waiting", "active"]);

/** @param {Step} step @param {number} depth @returns {number} */
function lines(step, depth) {
  return depth >= MAX_DEPTH ? 1 : step.steps.reduce((sum, below) => sum + lines(below, depth + 1), 1);
}

/** @param {RunPage} page */
function nothingTraced({ follower, isOver, steerable }) {
  if (follower?.log.after) return "No span and no execution is among the events that are loaded.";
  if (!steerable) return "A plain command has no trace: what is known of its worker stands under Proven.";
  return isOver ? "Nothing was traced." : "Nothing has been traced yet.";
}
