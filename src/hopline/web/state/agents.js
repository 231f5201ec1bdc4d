/** Everything that agents did in a run: their executions, its trace, and what stands between the turns. Pure. */

import { Executions } from "./executions.js";
import { Notes } from "./notes.js";
import { Trace } from "./trace.js";

/** @import { ActiveExecution, RunEvent, RunSnapshot } from "../wire/types.js" */
/** @import { Execution } from "./executions.js" */
/** @import { Note } from "./notes.js" */
/** @import { Step } from "./trace.js" */

export class Agents {
  executions = new Executions();
  notes = new Notes();
  trace = new Trace();
  /** @type {Map<string, string>} titles of chat threads */
  threads = new Map();
  /** What is made of all that, until something changes. @type {{ tree: Step[] | null, story: (Execution | Note)[] | null }} */
  #made = { tree: null, story: null };

  reset() {
    this.#changed();
    this.executions.reset();
    this.notes.reset();
    this.trace.reset();
    this.threads = new Map();
  }

  /** @param {RunEvent} event */
  take(event) {
    this.#changed();
    if (event.type === "chat_thread_created") {
      const { thread_id, title } = /** @type {any} */ (event.data) ?? {};
      if (typeof thread_id === "string") this.threads.set(thread_id, String(title ?? ""));
    } else if (!this.trace.take(event) && !this.notes.take(event)) this.executions.take(event);
  }

  /** @param {RunSnapshot} snapshot */
  takeSnapshot(snapshot) {
    this.#changed();
    this.trace.takeSnapshot(snapshot);
    for (const thread of snapshot.chat_threads ?? []) this.threads.set(thread.thread_id, thread.title);
  }

  /** Who is at work, as of the events that were taken. @param {ActiveExecution[]} list */
  listed(list) {
    this.#changed();
    this.executions.listed(list);
  }

  /** The run is over. */
  end() {
    this.#changed();
    this.executions.end();
  }

  /** @returns {(Execution | Note)[]} turns and what stands between them, the newest first */
  get story() {
    return (this.#made.story ??= [...this.executions.all.values(), ...this.notes.all.values()].sort((a, b) => b.sequence - a.sequence));
  }

  /** @returns {Step[]} the roots of the trace, oldest first */
  get tree() {
    return (this.#made.tree ??= this.trace.tree(this.executions));
  }

  /** What is asked of a person, by an agent that is at work. @returns {string | null} */
  get question() {
    for (const { activity } of this.executions.active) if (activity?.mode === "waiting" && activity.summary) return activity.summary;
    return null;
  }

  #changed() {
    this.#made = { tree: null, story: null };
  }
}
