/** What this page asks of a run, and how far each request has come. Commands, input and history never wait for one another. */

import { Requests } from "../wire/requests.js";

/** @import { Asked } from "../state/proven.js" */
/** @import { RunEvent, RunSnapshot } from "../wire/types.js" */

/** How long a worker may take to leave before it is killed, unless a person chooses otherwise. */
export const GRACE_SECONDS = 10;

export class Steering {
  /** @type {Map<string, Asked>} the latest of each action */
  asked = new Map();
  /** The worker's generation, stamped on what is asked. */
  generation = 1;
  /** What ends a line of input: Enter, where the worker has a terminal. */
  lineEnd = "\n";
  /** Until when a worker that was told to leave may stay, in milliseconds; 0 when none was told. */
  leaveBy = 0;

  #control;
  #input;
  #history;
  #chat;
  #onChange;
  #typed = "";
  /** @type {Promise<void> | null} */
  #typing = null;

  /** @param {string} runId @param {string} clientId @param {() => void} onChange */
  constructor(runId, clientId, onChange) {
    this.#control = new Requests(runId, clientId);
    this.#input = new Requests(runId, clientId);
    this.#history = new Requests(runId, clientId);
    this.#chat = new Requests(runId, clientId);
    this.#onChange = onChange;
  }

  interrupt() {
    return this.#ask(this.#control, "interrupt", "command.interrupt");
  }

  /** @param {number} seconds */
  stop(seconds) {
    this.leaveBy = Date.now() + seconds * 1000;
    return this.#ask(this.#control, "stop", "command.stop", { grace_ms: seconds * 1000 });
  }

  /** The hard way, when the gentle one has had its grace: killed at once. */
  kill() {
    return this.#ask(this.#control, "stop", "command.stop", { grace_ms: 0 });
  }

  /** @param {number} seconds */
  restart(seconds) {
    this.leaveBy = Date.now() + seconds * 1000;
    return this.#ask(this.#control, "restart", "command.restart", { grace_ms: seconds * 1000 });
  }

  pause() {
    return this.#ask(this.#control, "pause", "command.pause");
  }

  resume() {
    return this.#ask(this.#control, "resume", "command.resume");
  }

  /** @param {string} text */
  steer(text) {
    return this.#ask(this.#control, "steer", "command.steer", { text });
  }

  /** @param {{ columns: number, rows: number }} size  of the worker's terminal, for everybody */
  resize(size) {
    return this.#ask(this.#control, "resize", "command.resize", size);
  }

  /** Keys for the worker's terminal, in the order they were pressed. @param {string} keys */
  type(keys) {
    this.#typed += keys;
    this.#typing ??= this.#sendTyped();
  }

  /** What comes while one request is under way goes with the next. */
  async #sendTyped() {
    while (this.#typed) {
      const text = this.#typed;
      this.#typed = "";
      if (!(await this.input(text))) this.#typed = "";
    }
    this.#typing = null;
  }

  /** @param {string} text  with its newline */
  input(text) {
    return this.#ask(this.#input, "input", "command.input", { text }, 0);
  }

  endInput() {
    return this.#ask(this.#input, "input", "command.input", { close: true }, 0);
  }

  /** @param {number} after @param {number} before @returns {Promise<RunEvent[]>} every event between */
  async history(after, before) {
    /** @type {RunEvent[]} */
    const events = [];
    for (let cursor = after; cursor < before - 1; ) {
      const answer = await this.#history.ask("query.events", { after_sequence: cursor, before_sequence: before });
      const last = answer.events.at(-1);
      if (!last || last.sequence <= cursor) break;
      for (const event of answer.events) events.push(event);
      cursor = last.sequence;
    }
    return events;
  }

  /** @returns {Promise<RunSnapshot | null>} the fold of all that the run has recorded */
  async snapshot() {
    return (await this.#history.ask("query.snapshot")).snapshot;
  }

  /**
   * Ask about the run, on a connection of its own, as long as the answer takes (WP-ROLES).
   *
   * @param {string} text
   * @param {string | null} thread
   * @returns {Promise<{ answer: string, events: RunEvent[] }>}  with the event that records it, when one does
   */
  async chat(text, thread = null) {
    try {
      const { chat, events } = await this.#chat.ask("query.chat", { text, thread_id: thread }, 0);
      return { answer: chat?.answer ?? "", events };
    } finally {
      this.#chat.rest();
    }
  }

  /** Nothing more is read for now: a run that is over is served only for whoever is connected. */
  rest() {
    this.#history.rest();
  }

  /** Leave the run. */
  close() {
    this.#control.close();
    this.#input.close();
    this.#history.close();
    this.#chat.close();
  }

  /**
   * @param {Requests} requests
   * @param {Asked["action"]} action
   * @param {string} type
   * @param {object} [fields]
   * @param {number} [millis]
   * @returns {Promise<boolean>} whether the run accepted
   */
  async #ask(requests, action, type, fields, millis) {
    /** @type {Asked} */
    const asked = { action, at: new Date().toISOString(), acceptedAt: null, deliveredAt: null, error: null, generation: this.generation };
    this.asked.set(action, asked);
    this.#onChange();
    try {
      const { ack } = await requests.ask(type, fields, millis);
      asked.acceptedAt = new Date().toISOString();
      if (ack?.status === "delivered") asked.deliveredAt = asked.acceptedAt;
      return true;
    } catch (error) {
      asked.error = error instanceof Error ? error.message : String(error);
      return false;
    } finally {
      this.#onChange();
    }
  }
}
