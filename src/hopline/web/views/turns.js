/** A run as a story: the turns of its agents, and between them questions, steering, verdicts and waits. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { titleOf } from "../state/trace.js";
import { absolute, clock, count, exactAge, number } from "../state/words.js";
import { mark, toneOfStep } from "./marks.js";

/** @import { Call, Execution } from "../state/executions.js" */
/** @import { Note } from "../state/notes.js" */
/** @import { RunPage } from "./run.js" */

const LISTED = 300;

export class Turns {
  /** @type {Set<string>} the turns that are laid open by hand, or closed: the newest one is open by itself */
  #toggled = new Set();
  #asking = "";
  /** @type {{ question: string, answer: string } | null} an answer that was not recorded, because the run is over */
  #answer = null;
  #trouble = "";

  /** @param {RunPage} page @param {number} now @param {() => void} onOlder */
  template(page, now, onOlder) {
    const { follower } = page;
    if (!follower) return nothing;
    const { agents, log } = follower;
    const { story } = agents;
    const newest = story.find(isTurn);
    return html`<div class="turns">
      ${this.#question(page)}
      ${story.length
        ? html`<ol aria-label="Turns, newest first">
            ${repeat(
              story.slice(0, LISTED),
              (entry) => (isTurn(entry) ? entry.id : entry.sequence),
              (entry) => html`<li>${isTurn(entry) ? this.#turn(entry, entry === newest, page, now) : note(entry, agents.threads)}</li>`,
            )}
          </ol>`
        : html`<p class="none">${nobody(page)}</p>`}
      ${story.length > LISTED ? html`<p class="none">${count(story.length - LISTED, "older entry", "older entries")} not drawn</p>` : nothing}
      ${log.older(onOlder)}
    </div>`;
  }

  /** @param {RunPage} page */
  #question(page) {
    return html`<form class="ask" @submit=${(/** @type {Event} */ event) => this.#ask(event, page)}>
        <input type="text" name="question" aria-label="Ask about this run" placeholder="Ask about this run" autocomplete="off" ?disabled=${this.#asking !== ""} />
        <button type="submit" ?disabled=${this.#asking !== ""}>Ask</button>
      </form>
      ${this.#asking ? html`<p class="none" role="status">Asked: ${this.#asking}</p>` : nothing}
      ${this.#trouble ? html`<p class="none wrong" role="alert">${this.#trouble}</p>` : nothing}
      ${this.#answer
        ? html`<article class="between chat" role="status">
            <h3>${this.#answer.question}</h3>
            <p>${this.#answer.answer}</p>
          </article>`
        : nothing}`;
  }

  /** @param {Event} event @param {RunPage} page */
  async #ask(event, page) {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (/** @type {HTMLFormElement} */ (event.currentTarget).querySelector("input"));
    const question = field.value.trim();
    if (!question) return;
    this.#asking = question;
    this.#answer = null;
    this.#trouble = "";
    page.update();
    try {
      const { answer, events } = await page.steering.chat(question);
      field.value = "";
      if (!events.length) this.#answer = { question, answer };
    } catch (error) {
      this.#trouble = error instanceof Error ? error.message : String(error);
    }
    this.#asking = "";
    page.update();
  }

  /** @param {Execution} turn @param {boolean} newest @param {RunPage} page @param {number} now */
  #turn(turn, newest, page, now) {
    const open = newest !== this.#toggled.has(turn.id);
    const toggle = () => {
      if (!this.#toggled.delete(turn.id)) this.#toggled.add(turn.id);
      page.update();
    };
    const active = turn.state === "active";
    const ended = turn.endedAt ? Date.parse(turn.endedAt) : active ? now : null;
    const lasted = turn.startedAt && ended !== null ? exactAge(ended - Date.parse(turn.startedAt)) : "";
    const doing = active ? (turn.activity?.summary || turn.activity?.mode || "at work") : turn.state;
    return html`<button type="button" class="turn" aria-expanded=${open} @click=${toggle}>
        ${mark(toneOfStep(turn.state, turn.activity?.mode))}
        <span class="title">${titleOf(turn)}</span>
        <span class="doing">${doing}</span>
        <span class="round">${turn.round}</span>
        <span class="figures">${[turn.called ? count(turn.called, "call") : "", lasted].filter(Boolean).join(" · ")}</span>
        ${turn.startedAt ? html`<time datetime=${turn.startedAt} title=${absolute(turn.startedAt)}>${clock(turn.startedAt)}</time>` : nothing}
      </button>
      ${open ? inside(turn) : nothing}`;
  }
}

/** @param {Execution | Note} entry @returns {entry is Execution} */
function isTurn(entry) {
  return "calls" in entry;
}

/** @param {Execution} turn */
function inside(turn) {
  const parts = [...turn.said, ...turn.calls].sort((a, b) => a.sequence - b.sequence);
  const model = [turn.provider, turn.model].filter(Boolean).join(" ");
  const full = turn.context ? `context ${number(turn.context.used)}${turn.context.window ? ` of ${number(turn.context.window)}` : ""} tokens` : "";
  return html`<div class="inside">
    ${model || full ? html`<p class="quiet">${[model, full].filter(Boolean).join(" · ")}</p>` : nothing}
    ${turn.assignment ? html`<details><summary>Its assignment</summary><pre tabindex="0">${turn.assignment}</pre></details>` : nothing}
    ${turn.todos.length
      ? html`<ul class="todos" aria-label="Its list">
          ${turn.todos.map((todo) => html`<li class=${DONE.has(todo.status) ? "reached" : ""}>${todo.content} <span>${todo.status.replaceAll("_", " ")}</span></li>`)}
        </ul>`
      : nothing}
    ${spoken(parts).map((part) => ("tool" in part ? call(part) : html`<p class="said ${part.channel}">${part.text}</p>`))}
    ${turn.error ? html`<p class="wrong">${turn.error}</p>` : nothing}
    ${turn.result ? html`<details><summary>Its result</summary><pre tabindex="0">${turn.result}</pre></details>` : nothing}
    ${!parts.length && !turn.error && !turn.result && !turn.todos.length ? html`<p class="quiet">Nothing said yet, of the events that are loaded.</p>` : nothing}
  </div>`;
}

const DONE = new Set(["completed", "done"]);

/** Pieces of one channel that follow one another are one paragraph. @param {(Execution["said"][number] | Call)[]} parts */
function spoken(parts) {
  /** @type {(Execution["said"][number] | Call)[]} */
  const joined = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && !("tool" in last) && !("tool" in part) && last.channel === part.channel) {
      joined[joined.length - 1] = { ...last, text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}

/** @param {Call} made */
function call(made) {
  return html`<details class="call ${made.isError ? "wrong" : ""}">
    <summary><code>${made.tool}</code> <span>${made.args.replaceAll(/\s+/g, " ").slice(0, 160)}</span>${made.result === null ? html` <em>no answer yet</em>` : nothing}</summary>
    <pre tabindex="0">${made.args}${made.result === null ? "" : `\n\n${made.result}`}</pre>
  </details>`;
}

/** @param {Note} entry @param {Map<string, string>} threads */
function note(entry, threads) {
  const thread = entry.thread === null ? "" : (threads.get(entry.thread) ?? "");
  return html`<article class="between ${entry.kind} ${entry.wrong ? "wrong" : ""}">
    <h3>${entry.title}</h3>
    ${entry.text ? html`<p>${entry.text}</p>` : nothing}
    <footer><time datetime=${entry.at} title=${absolute(entry.at)}>${clock(entry.at)}</time> ${thread}</footer>
  </article>`;
}

/** @param {RunPage} page */
function nobody({ follower, isOver, steerable }) {
  if (follower?.log.after) return "No turn is among the events that are loaded.";
  if (!steerable) return "A plain command takes no turns: its output is all it says.";
  return isOver ? "No agent took a turn." : "No agent has taken a turn yet.";
}
