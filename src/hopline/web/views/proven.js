/** The panel that says what is proven: of the worker, of what it started, and of everything that was asked. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { copyable } from "../shell/copy.js";
import { isOver } from "../state/run.js";
import { isPending, proofOf } from "../state/proven.js";
import { absolute, clock, count, signalName } from "../state/words.js";

/** @import { RunState, Worker } from "../state/run.js" */
/** @import { Proof } from "../state/proven.js" */
/** @import { Row } from "../wire/types.js" */
/** @import { Steering } from "./steering.js" */

/**
 * @param {string} id
 * @param {RunState} run
 * @param {Row | undefined} row
 * @param {Steering} steering
 */
export function provenPanel(id, run, row, steering) {
  const actions = /** @type {const} */ (["interrupt", "input", "steer", "pause", "resume", "restart", "stop"]);
  const proofs = actions.flatMap((action) => proofOf(run, steering.asked.get(action), action) ?? []);
  const lost = row?.status === "interrupted" && !row.live;
  return html`<h2>Proven</h2>
    <dl class="facts">
      <div>
        <dt>worker</dt>
        <dd>${run.worker || !isOver(run) ? workerWords(run.worker, lost) : "none is recorded"}</dd>
      </div>
      <div>
        <dt>descendants</dt>
        <dd>${run.worker || !isOver(run) ? descendants(id, run.worker, lost) : "none is recorded"}</dd>
      </div>
      ${run.reason
        ? html`<div class="wrong">
            <dt>reason</dt>
            <dd>${run.reason}</dd>
          </div>`
        : nothing}
      ${run.warning
        ? html`<div>
            <dt>note</dt>
            <dd>${run.warning.text} ${at(run.warning.at)}</dd>
          </div>`
        : nothing}
    </dl>
    ${proofs.map((proof) => asked(proof, steering))}
    <dl class="facts about">
      <div>
        <dt>command</dt>
        <dd><code tabindex="0">${run.command}</code></dd>
      </div>
      ${row
        ? html`<div>
            <dt>folder</dt>
            <dd><code>${row.cwd}</code></dd>
          </div>`
        : nothing}
      <div>
        <dt>run</dt>
        <dd><code>${id}</code></dd>
      </div>
      ${run.startedAt
        ? html`<div>
            <dt>started</dt>
            <dd>${absolute(run.startedAt)}</dd>
          </div>`
        : nothing}
    </dl>`;
}

/** @param {string | null} time */
function at(time) {
  return time ? html`<time datetime=${time} title=${absolute(time)}>${clock(time)}</time>` : nothing;
}

/** @param {Worker | null} worker @param {boolean} lost */
function workerWords(worker, lost) {
  if (!worker) return "not started yet";
  const generation = worker.generation > 1 ? `, generation ${worker.generation}` : "";
  if (worker.signal !== null) return html`ended by ${signalName(worker.signal)}${generation} ${at(worker.endedAt)}`;
  if (worker.code !== null) return html`exited with ${worker.code}${generation} ${at(worker.endedAt)}`;
  if (worker.retiredAt || lost) return `unknown: nobody saw it end${generation}`;
  return html`running, pid ${worker.pid}${generation} ${at(worker.startedAt)}`;
}

/** @param {string} id @param {Worker | null} worker @param {boolean} lost */
function descendants(id, worker, lost) {
  if (!worker) return "none yet";
  if (!worker.retiredAt) {
    return lost ? html`unknown; look for them: ${copyable(`hopline doctor ${id}`)}` : "looked for when the worker ends";
  }
  const how = worker.how ? html`<span class="how">${worker.how}</span>` : nothing;
  if (worker.descendants !== "remaining") return html`${worker.descendants} ${at(worker.retiredAt)} ${how}`;
  return html`<strong class="wrong">${count(worker.survivors.length, "process", "processes")} left behind</strong> ${how}
    <ul class="survivors">
      ${worker.survivors.map(
        (survivor) => html`<li>
          ${survivor.name} (${survivor.pid}) ${copyable(`hopline doctor ${id} --end ${survivor.pid}@${survivor.start_time.toFixed(2)}`)}
        </li>`,
      )}
    </ul>`;
}

/** @param {Proof} proof @param {Steering} steering */
function asked(proof, steering) {
  const waiting = isPending(proof);
  const leaving = proof.title === "stop" || proof.title === "restart";
  const left = Math.ceil((steering.leaveBy - Date.now()) / 1000);
  const times = proof.count > 1 ? html`<span class="count">${proof.count} times</span>` : nothing;
  return html`<section class="proof ${proof.error ? "wrong" : waiting ? "pending" : "done"}">
    <h3>${proof.title} ${times}</h3>
    <ol class="steps">
      ${proof.steps.map(
        (step) => html`<li class=${step.at ? "reached" : ""}>
          <span>${step.label}</span>${step.at ? at(step.at) : html`<span class="not">not yet</span>`}
        </li>`,
      )}
    </ol>
    ${proof.error ? html`<p class="wrong">${proof.error}</p>` : nothing}
    ${leaving && waiting && !proof.error && left > 0 ? html`<p>killed in ${left} s unless it has left by then</p>` : nothing}
  </section>`;
}
