/** What a person can do to a run: always the same buttons, each off with its reason where it cannot be. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { askForText, askToEnd } from "./dialogs.js";
import { GRACE_SECONDS } from "./steering.js";

/** @import { RunPage } from "./run.js" */

const NO_AGENT = "needs an agent: this run is a plain command";

/** @param {RunPage} page */
export function controls(page) {
  const { steering, follower, steerable } = page;
  const off = page.isOver || !follower || follower.position.phase === "opening";
  const plain = follower !== null && follower.position.phase !== "opening" && !steerable;
  const unable = off || plain;
  const why = plain ? NO_AGENT : nothing;
  const paused = page.status === "paused" || page.status === "pausing";
  const described = plain ? "no-agent" : nothing;
  return html`<div class="controls ${steerable ? "" : "plain"} ${page.isOver ? "over" : ""}" role="group" aria-label="Controls">
    <button type="button" ?disabled=${off} title="SIGINT to the worker (.)" @click=${() => steering.interrupt()}>Interrupt</button>
    <button type="button" class="agents" ?disabled=${unable} title=${why} aria-describedby=${described} @click=${() => steer(page)}>Steer…</button>
    <button type="button" class="agents" ?disabled=${unable || paused} title=${why} aria-describedby=${described} @click=${() => steering.pause()}>Pause</button>
    <button type="button" class="agents" ?disabled=${unable || !(paused || page.status === "stopping")} title=${why} aria-describedby=${described} @click=${() => steering.resume()}>
      Resume
    </button>
    ${plain && !page.isOver ? html`<span class="hidden" id="no-agent">Steer, pause and resume: ${NO_AGENT}.</span>` : nothing}
    <button type="button" ?disabled=${off} @click=${() => end(page, "Restart")}>Restart…</button>
    ${ending(page, off)}
  </div>`;
}

/** Stop, and the hard way once the gentle one had its grace. @param {RunPage} page @param {boolean} off */
function ending(page, off) {
  if (page.status !== "stopping" || page.isOver) {
    return html`<button type="button" class="stop" ?disabled=${off} @click=${() => end(page, "Stop")}>Stop…</button>`;
  }
  if (!graceIsOver(page)) return html`<button type="button" class="stop" disabled>Stopping</button>`;
  return html`<button type="button" class="stop danger" title="Its grace is over and it is still there" @click=${() => page.steering.kill()}>
    Kill now
  </button>`;
}

/** Whether a worker that was told to leave has had its time; of a stop that another asked, the usual one. @param {RunPage} page */
function graceIsOver({ steering, follower, now }) {
  if (steering.leaveBy) return Date.now() > steering.leaveBy;
  const since = follower?.run.since.stopping;
  return since !== undefined && now > Date.parse(since) + GRACE_SECONDS * 1000;
}

/** @param {RunPage} page */
export async function steer(page) {
  const text = await askForText(`What should ${page.name} know?`, "Steer");
  if (text) await page.steering.steer(text);
}

/** @param {RunPage} page @param {"Stop" | "Restart"} verb */
async function end(page, verb) {
  const worker = page.follower?.run.worker;
  const pid = worker?.pid ? ` (pid ${worker.pid})` : "";
  const turns = page.follower?.agents.executions.active.length ?? 0;
  const agents = turns ? `, and with it ${turns === 1 ? "the agent's turn" : `${turns} agents' turns`} under way` : "";
  const ends = `its worker${pid} and what that has started${agents}`;
  const seconds = await askToEnd(verb, page.name, ends, GRACE_SECONDS);
  if (seconds === null) return;
  await (verb === "Stop" ? page.steering.stop(seconds) : page.steering.restart(seconds));
}
