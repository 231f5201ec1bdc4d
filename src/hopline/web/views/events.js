/** A run's events as a list: what happened, when, and all that was said about it. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { absolute, clock, count, number, signalName, size } from "../state/words.js";

/** @import { RunEvent } from "../wire/types.js" */

const KEPT = 1000;
const KEPT_OUTPUT = 300;
const PREVIEW = 160;
const PAGE = 500;

export class EventLog {
  /** Whether pieces of output are listed too. */
  withOutput = false;
  loading = false;
  /** Why the last page did not come. */
  trouble = "";
  /** @type {RunEvent[]} oldest first, output cut to a preview */
  #kept = [];
  #output = 0;
  /** @type {Set<number>} the sequences that are laid open */
  #open = new Set();
  /** Everything after this sequence that is no output is listed. */
  after = 0;

  /** @param {number} floor */
  reset(floor) {
    this.#kept = [];
    this.#output = 0;
    this.after = floor;
  }

  /** @param {RunEvent[]} events */
  take(events) {
    const last = this.#kept.at(-1)?.sequence ?? 0;
    for (const event of events) if (event.sequence > last) this.#keep(event);
    if (this.#output > KEPT_OUTPUT * 2) this.#thin();
    if (this.#kept.length > KEPT * 2) this.after = Math.max(this.after, this.#dropOldest());
  }

  /**
   * @param {(after: number, before: number) => Promise<RunEvent[]>} history
   * @param {() => void} onChange
   * @param {(events: RunEvent[], after: number) => void} onPage  everything after `after` that was not known yet
   */
  async loadOlder(history, onChange, onPage) {
    if (this.loading || this.after === 0) return;
    this.loading = true;
    onChange();
    const before = this.after + 1;
    const after = Math.max(0, this.after - PAGE);
    try {
      const page = await history(after, before);
      onPage(page, after);
      const older = page.filter((event) => !isOutput(event));
      const known = new Set(older.map((event) => event.sequence));
      this.#kept = [...this.#kept.filter((event) => !known.has(event.sequence)), ...older].sort(bySequence);
      this.after = after;
      this.trouble = "";
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    } finally {
      this.loading = false;
      onChange();
    }
  }

  /** The button that loads what is above; nothing when all is there. @param {() => void} onOlder */
  older(onOlder) {
    if (this.after === 0) return nothing;
    return html`<button type="button" class="older ${this.trouble ? "wrong" : ""}" ?disabled=${this.loading} @click=${onOlder}>
      ${this.loading ? "Loading…" : `${this.trouble ? `It did not come (${this.trouble}). Try again` : "Load older"}: ${count(this.after, "event")} before these`}
    </button>`;
  }

  /** @param {() => void} onChange @param {() => void} onOlder */
  template(onChange, onOlder) {
    const listed = this.withOutput ? this.#kept : this.#kept.filter((event) => !isOutput(event));
    const newestFirst = listed.slice(-KEPT).reverse();
    return html`<div class="events">
      <label class="choice"
        ><input type="checkbox" .checked=${this.withOutput} @change=${() => ((this.withOutput = !this.withOutput), onChange())} />
        list output too</label
      >
      <ol aria-label="Events, newest first">
        ${repeat(
          newestFirst,
          (event) => event.sequence,
          (event) => html`<li>${this.#entry(event, onChange)}</li>`,
        )}
      </ol>
      ${this.older(onOlder)}
    </div>`;
  }

  /** @param {RunEvent} event @param {() => void} onChange */
  #entry(event, onChange) {
    const open = this.#open.has(event.sequence);
    const toggle = () => {
      if (open) this.#open.delete(event.sequence);
      else this.#open.add(event.sequence);
      onChange();
    };
    const wrong = event.diagnostic !== null && event.diagnostic !== undefined;
    return html`<button type="button" class="event ${wrong ? "wrong" : ""}" aria-expanded=${open} @click=${toggle}>
        <span class="sequence">${number(event.sequence)}</span>
        <time datetime=${event.timestamp} title=${absolute(event.timestamp)}>${clock(event.timestamp)}</time>
        <span class="type">${event.type}</span>
        <span class="said">${summary(event)}</span>
      </button>
      ${open ? html`<pre tabindex="0">${JSON.stringify(event, null, 2)}</pre>` : nothing}`;
  }

  /** @param {RunEvent} event */
  #keep(event) {
    if (!isOutput(event)) {
      this.#kept.push(event);
      return;
    }
    const data = /** @type {any} */ (event.data);
    const content = typeof data?.content === "string" ? data.content : "";
    const cut = content.length > PREVIEW ? { ...data, content: `${content.slice(0, PREVIEW)}…`, raw: undefined } : data;
    this.#kept.push({ ...event, data: { ...cut, characters: content.length } });
    this.#output += 1;
  }

  #thin() {
    let drop = this.#output - KEPT_OUTPUT;
    this.#kept = this.#kept.filter((event) => !(isOutput(event) && drop-- > 0));
    this.#output = KEPT_OUTPUT;
  }

  #dropOldest() {
    const dropped = this.#kept.splice(0, this.#kept.length - KEPT);
    this.#output -= dropped.filter(isOutput).length;
    return dropped.at(-1)?.sequence ?? 0;
  }
}

/** @param {RunEvent} event */
function isOutput(event) {
  return event.type === "subprocess_output" || event.type === "output";
}

/** @param {RunEvent} a @param {RunEvent} b */
function bySequence(a, b) {
  return a.sequence - b.sequence;
}

/** @param {RunEvent} event @returns {string} one line for a person */
function summary(event) {
  const data = /** @type {any} */ (event.data) ?? {};
  if (event.diagnostic) return event.diagnostic.summary;
  switch (event.type) {
    case "run_started":
      return String(data.input ?? "");
    case "run_status_changed":
      return `${data.previous} → ${data.status}`;
    case "worker_started":
      return `generation ${data.generation}, pid ${data.pid}, ${data.runner}`;
    case "worker_exited":
      return `generation ${data.generation}, exit ${data.code}`;
    case "worker_signaled":
      return `generation ${data.generation}, ${signalName(data.signal)}`;
    case "worker_retired":
      return `generation ${data.generation}, descendants ${data.descendants?.state} (${data.how})`;
    case "control":
      return `${event.text} ${event.status ?? ""}`;
    case "subprocess_output":
      return `${data.stream}, ${size(data.characters ?? 0)}: ${String(data.content ?? "").replaceAll(/\s+/g, " ").trim()}`;
    case "framework_warning":
      return String(data.summary ?? event.text);
    default:
      return [event.text, event.status].filter(Boolean).join(" · ");
  }
}
