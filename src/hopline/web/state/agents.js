/** Everything that agents did in a run: their executions, its trace, and what stands between the turns. Pure. */

import { Executions } from "./executions.js";
import { Notes } from "./notes.js";
import { Trace } from "./trace.js";

/** @import { RunEvent, RunSnapshot } from "../wire/types.js" */
/** @import { Execution } from "./executions.js" */
/** @import { Note } from "./notes.js" */

export class Agents {
  executions = new Executions();
  notes = new Notes();
  trace = new Trace();
  /** @type {Map<string, string>} titles of chat threads */
  threads = new Map();

  reset() {
    this.executions.reset();
    this.notes.reset();
    this.trace.reset();
    this.threads = new Map();
  }

  /** @param {RunEvent} event */
  take(event) {
    if (event.type === "chat_thread_created") {
      const { thread_id, title } = /** @type {any} */ (event.data) ?? {};
      if (typeof thread_id === "string") this.threads.set(thread_id, String(title ?? ""));
    } else if (!this.trace.take(event) && !this.notes.take(event)) this.executions.take(event);
  }

  /** @param {RunSnapshot} snapshot */
  takeSnapshot(snapshot) {
    this.trace.takeSnapshot(snapshot);
    for (const thread of snapshot.chat_threads ?? []) this.threads.set(thread.thread_id, thread.title);
  }

  /** The run is over. */
  end() {
    this.executions.end();
  }

  /** @returns {(Execution | Note)[]} turns and what stands between them, the newest first */
  get story() {
    return [...this.executions.all.values(), ...this.notes.all.values()].sort((a, b) => b.sequence - a.sequence);
  }

  /** What is asked of a person, by an agent that is at work. @returns {string | null} */
  get question() {
    for (const { activity } of this.executions.active) if (activity?.mode === "waiting" && activity.summary) return activity.summary;
    return null;
  }
}
