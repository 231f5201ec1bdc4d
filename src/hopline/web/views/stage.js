/** The terminal with what stands over it: how much is above, what is new below, where a link leads. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { settings } from "../shell/settings.js";
import { count, number } from "../state/words.js";

/** @import { RunPage } from "./run.js" */

/** @param {RunPage} page @param {HTMLElement} place */
export function stage(page, place) {
  const { output, follower, link } = page;
  const parked = follower?.position.phase === "parked";
  const silent = follower !== null && output !== null && !output.recent.list.length && !output.shown.list.length;
  const opening = !follower || follower.position.phase === "opening";
  return html`<div class="stage ${page.size ? "pty" : settings.pan ? "pan" : ""}">
    ${place} ${output ? above(page) : nothing}
    ${silent && !opening ? html`<p class="silent">${page.isOver ? "It wrote nothing." : "Nothing written yet."}</p>` : nothing}
    ${output && !output.following && !parked
      ? html`<button type="button" class="chip below" @click=${() => output.follow()}>
          Jump to live${output.fresh ? html` <span>(${number(output.fresh)} new)</span>` : nothing}
        </button>`
      : nothing}
    ${page.takesKeys ? html`<p class="typing">Keys go to the worker; <kbd>Ctrl</kbd> <kbd>\\</kbd> leaves</p>` : nothing}
    ${link ? html`<p class="link-target">${link}</p>` : nothing}
  </div>`;
}

/** @param {RunPage} page */
function above({ output }) {
  if (!output || output.shown.after === 0) return nothing;
  if (output.pages.loading) return html`<p class="chip above" role="status">Loading what is above…</p>`;
  if (output.pages.trouble) {
    return html`<button type="button" class="chip above wrong" @click=${() => output.loadOlder()}>
      What is above did not come (${output.pages.trouble}). Try again
    </button>`;
  }
  if (!output.atStart) return nothing;
  return html`<button type="button" class="chip above" @click=${() => output.loadOlder()}>
    ${count(output.shown.after, "earlier event")} above
  </button>`;
}
