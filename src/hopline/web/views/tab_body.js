/** What stands in the place of the output while another tab is chosen. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";

/** @import { RunPage } from "./run.js" */
/** @import { TraceView } from "./trace.js" */
/** @import { Turns } from "./turns.js" */

/**
 * @param {RunPage} page
 * @param {{ turns: Turns, trace: TraceView }} views
 * @param {number} now
 * @param {() => void} older
 */
export function listed(page, views, now, older) {
  const { follower, tab } = page;
  if (!follower) return nothing;
  switch (tab) {
    case "turns":
      return html`<section class="event-list" aria-label="Turns">${views.turns.template(page, now, older)}</section>`;
    case "trace":
      return html`<section class="event-list" aria-label="Trace">${views.trace.template(page, now, older)}</section>`;
    case "events":
      return html`<section class="event-list" aria-label="Events">${follower.log.template(() => page.update(), older)}</section>`;
    default:
      return nothing;
  }
}
