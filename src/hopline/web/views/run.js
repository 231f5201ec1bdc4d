/** The second view: one run, live, with its controls and what is proven. */

import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { announce } from "../shell/announce.js";
import { reloadOnce } from "../shell/reload.js";
import { isDark, markSeen, onTheme, settings } from "../shell/settings.js";
import { claimOf } from "../state/claim.js";
import { isOver, isSteerable } from "../state/run.js";
import { isQuestion } from "../state/words.js";
import { newId } from "../wire/requests.js";
import { controls } from "./controls.js";
import { showKeys } from "./dialogs.js";
import { Find } from "./find.js";
import { Follower } from "./follower.js";
import { Prompt } from "./prompt.js";
import { provenPanel } from "./proven.js";
import { RateChart } from "./rate.js";
import { heading, question, tabs } from "./run_head.js";
import { runKey } from "./run_keys.js";
import { stage } from "./stage.js";
import { Steering } from "./steering.js";
import { listed } from "./tab_body.js";
import { sameSize, sizeOf } from "./terminal_size.js";
import { TraceView } from "./trace.js";
import { Turns } from "./turns.js";

/** @import { Output } from "../terminal/output.js" */
/** @import { Size } from "../terminal/screen.js" */
/** @import { Listing } from "../wire/listing.js" */

/** @typedef {"output" | "turns" | "trace" | "events" | "proven"} Tab */

/** Pages of history that a view of the agents loads by itself when it has nothing to show. */
const FILLS = 4;

export class RunPage {
  id;
  /** @type {Tab} */
  tab = "output";
  /** What the output calls itself, by its escape sequence. */
  outputTitle = "";
  /**
   * The size of the worker's terminal; null when it writes to a pipe.
   *
   * @type {Size | null}
   */
  size = null;
  /** The address of the link that is pointed at. */
  link = "";
  steering;
  /** @type {Output | null} */
  output = null;
  /** @type {Follower | null} */
  follower = null;

  #root;
  #listing;
  #place = document.createElement("div");
  #history = (/** @type {number} */ after, /** @type {number} */ before) => this.steering.history(after, before);
  #find = new Find(this.#history, () => this.update());
  #views = { turns: new Turns(), trace: new TraceView() };
  #chart = new RateChart(() => this.#soon());
  #prompt;
  #clientId = newId();
  #scheduled = false;
  #disposed = false;
  #announced = "";
  #endTheme = onTheme(() => this.output?.change({ dark: isDark() }));

  /** @param {HTMLElement} root @param {string} id @param {Listing} listing @param {boolean} answering  the person came to answer */
  constructor(root, id, listing, answering) {
    this.id = id;
    this.#root = root;
    this.#listing = listing;
    this.#place.className = "terminal-place";
    this.steering = new Steering(id, this.#clientId, () => this.#soon());
    this.#prompt = new Prompt(this.steering, () => this.#soon());
    this.update();
    void this.#start();
    if (answering) this.answer();
  }

  get row() {
    return this.#listing.rows.get(this.id);
  }

  get name() {
    return this.row?.name ?? this.id;
  }

  get status() {
    return this.row && !this.row.live ? this.row.status : (this.follower?.run.status ?? this.row?.status ?? "starting");
  }

  /** Whether anything can be asked of it. */
  get isOver() {
    return (this.follower !== null && isOver(this.follower.run)) || this.row?.live === false;
  }

  get isPaused() {
    return this.status === "paused" || this.status === "pausing";
  }

  /** Whether an agent's loop runs it, which can be steered, paused and resumed. */
  get steerable() {
    return this.follower !== null && isSteerable(this.follower.run);
  }

  /** The present by the gateway's clock, in milliseconds. */
  get now() {
    return Date.now() + this.#listing.skew;
  }

  /** What a person is asked, if anything. @returns {string | null} */
  get asked() {
    if (this.isOver) return null;
    return isQuestion(this.row?.waiting) ? (this.row?.waiting ?? null) : (this.follower?.agents.question ?? null);
  }

  get isFinding() {
    return this.#find.open;
  }

  /** Whether keys in the terminal are the worker's. */
  get takesKeys() {
    return this.size !== null && !this.isOver;
  }

  get title() {
    return `${this.name}: ${this.status} · hopline`;
  }

  update() {
    if (this.#disposed) return;
    const { row, follower } = this;
    if (follower) {
      follower.interrupted = row?.status === "interrupted" && !row.live;
      this.steering.generation = follower.run.worker?.generation ?? 1;
    }
    this.#takeSize(sizeOf(follower?.run, row));
    if (this.isOver) markSeen(this.id);
    this.#announce();
    render(this.#template(this.now), this.#root);
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether it meant something here */
  key(event) {
    return runKey(this, event);
  }

  /** @param {Tab} tab */
  select(tab) {
    this.tab = tab;
    this.update();
    this.output?.fit();
    if (tab === "turns" || tab === "trace") void this.#fill();
  }

  /** Write to the worker: what answers it, too. */
  answer() {
    this.#prompt.focus();
  }

  endFind() {
    this.#find.end();
  }

  find() {
    this.select("output");
    if (this.output) this.#find.begin(this.output);
  }

  showKeys() {
    return showKeys(() => this.output?.change({ spoken: settings.spoken }));
  }

  togglePan() {
    settings.pan = !settings.pan;
    this.output?.change({ pan: settings.pan });
    this.update();
  }

  /** Give the worker's terminal the size of this window. */
  resize() {
    const room = this.output?.room;
    if (room) void this.steering.resize(room);
  }

  /** The network came back, or the person looks: try at once. */
  hurry() {
    this.follower?.hurry();
  }

  dispose() {
    this.#disposed = true;
    this.#endTheme();
    this.follower?.dispose();
    this.steering.close();
    this.#chart.dispose();
    this.output?.dispose();
    render(nothing, this.#root);
  }

  async #start() {
    const terminal = await import("../terminal/output.js").catch(() => null);
    if (this.#disposed) return;
    if (terminal === null) return reloadOnce(() => this.#listing.phase === "live");
    const options = {
      dark: isDark(),
      pan: settings.pan,
      spoken: settings.spoken,
      pty: this.size,
      onKeys: (/** @type {string} */ keys) => this.takesKeys && this.steering.type(keys),
      onLink: (/** @type {string} */ url) => ((this.link = url), this.#soon()),
      onTitle: (/** @type {string} */ title) => ((this.outputTitle = title.slice(0, 200)), this.#soon()),
    };
    this.output = new terminal.Output(this.#place, options, this.#history, () => (this.follower?.drained(), this.#soon()));
    this.follower = new Follower(
      this.id,
      this.#clientId,
      this.output,
      () => this.steering.snapshot(),
      () => this.#soon(),
    );
    await this.follower.follow();
    if (this.#disposed) return;
    if (this.isOver) this.follower.agents.end();
    await this.follower.refresh();
    this.steering.rest();
  }

  /** Look further up while no turn is known that the views of agents could show. */
  async #fill() {
    const { follower } = this;
    for (let fills = 0; follower && fills < FILLS && follower.log.after && !this.#disposed; fills += 1) {
      const { executions, story } = follower.agents;
      if (this.steerable ? executions.all.size : story.length) return;
      await this.#older();
      if (follower.log.trouble) return;
    }
  }

  async #older() {
    await this.follower?.loadOlder(this.#history);
    if (this.isOver) this.steering.rest();
  }

  /** @param {Size | null} size */
  #takeSize(size) {
    if (sameSize(this.size, size)) return;
    this.size = size;
    this.steering.lineEnd = size ? "\r" : "\n";
    this.output?.change({ pty: size });
  }

  /** One drawing for everything that changes until the next frame. */
  #soon() {
    if (this.#scheduled || this.#disposed) return;
    this.#scheduled = true;
    const draw = () => ((this.#scheduled = false), this.update());
    if (document.hidden) setTimeout(draw, 250);
    else requestAnimationFrame(draw);
  }

  /** @param {number} now */
  #template(now) {
    const { follower, row } = this;
    const claim = follower ? claimOf(follower.position, Date.now(), follower) : null;
    const rate = follower ? this.#chart.template(follower.rate, this.isOver ? null : now, follower.log.after === 0) : nothing;
    return html`
      ${heading(this, claim, now)}
      <section class="toolbar" aria-label="Views and controls">${tabs(this)} ${controls(this)}</section>
      <main id="main" class="run-body ${this.tab}">
        ${question(this)}
        <section class="output" aria-label="Output">${this.#find.template()} ${stage(this, this.#place)}</section>
        ${listed(this, this.#views, now, () => void this.#older())}
        <aside class="proven" aria-label="Proven">
          ${rate} ${follower ? provenPanel(this.id, follower.run, row, this.steering) : nothing}
        </aside>
      </main>
      ${this.#prompt.template(this.isOver)}
    `;
  }

  /** Changes of state only; never output. */
  #announce() {
    const phase = this.follower?.position.phase;
    const connection = phase === "retrying" || phase === "refused" ? ", connection lost" : "";
    const said = `${this.name} ${this.status}${connection}`;
    if (this.#announced && said !== this.#announced) announce(said);
    this.#announced = said;
  }
}
