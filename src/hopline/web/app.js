/** The page: two views over one listing, a route in the address, keys, and the truth about the connection. */

import { showAttention } from "./shell/attention.js";
import { reloadOnce } from "./shell/reload.js";
import { applyTheme, nextTheme } from "./shell/settings.js";
import { isAsking, showKeys } from "./views/dialogs.js";
import { RunsPage } from "./views/runs.js";
import { Listing } from "./wire/listing.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));

/** How often ages and countdowns are drawn anew. */
const TICK_MILLIS = 1000;

const listing = new Listing(() => draw());

/**
 * What both views are to this module.
 *
 * @typedef {object} Page
 * @property {string} title
 * @property {() => void} update
 * @property {(event: KeyboardEvent) => boolean} key
 * @property {() => void} dispose
 * @property {boolean} [takesKeys]  whether keys in its terminal are a worker's
 * @property {() => void} [hurry]
 * @property {() => void} [showKeys]
 */

/** @type {Page | null} */
let page = null;

function draw() {
  page?.update();
  const waiting = [...listing.rows.values()].filter((row) => row.waiting).length;
  showAttention(page?.title ?? "hopline", waiting);
}

/** What belongs to one run, and the terminal with it, is loaded after the first view, and kept for when the gateway goes. */
const runView = () => import("./views/run.js");

async function keepForLater() {
  try {
    await runView();
    await import("./terminal/output.js");
  } catch {
    // it is loaded when a run is opened
  }
}

async function route() {
  const { hash } = location;
  const [, run, answering] = /^#\/runs\/([0-9a-f]{12})(\/answer)?$/.exec(hash) ?? [];
  page?.dispose();
  page = null;
  const place = document.createElement("div");
  place.className = "page";
  root.replaceChildren(place);
  if (run) {
    try {
      const { RunPage } = await runView();
      if (location.hash !== hash) return;
      page = new RunPage(place, run, listing, Boolean(answering));
    } catch {
      place.textContent = "gateway unreachable, retrying";
      reloadOnce(() => listing.phase === "live");
    }
  } else page = new RunsPage(place, listing);
  draw();
}

/** @param {KeyboardEvent} event */
function key(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const terminal = target.closest(".xterm");
  const writing = terminal ? page?.takesKeys : target.closest("input, textarea, select, [contenteditable]");
  if (event.ctrlKey || event.metaKey || event.altKey || writing || isAsking()) return;
  if (event.key === "?") page?.showKeys ? page.showKeys() : void showKeys(() => {});
  else if (event.key === "t") nextTheme();
  else if (!page?.key(event)) return;
  event.preventDefault();
}

/** Whatever waits for the gateway tries at once. */
function hurry() {
  if (document.hidden) return;
  listing.hurry();
  page?.hurry?.();
}

// The token has done its work: the session's cookie carries on, and the address may be shown to anybody.
if (location.search) history.replaceState(null, "", location.pathname + location.hash);

applyTheme();
void route();
addEventListener("hashchange", route);
addEventListener("keydown", key);
addEventListener("online", hurry);
document.addEventListener("visibilitychange", hurry);
setInterval(() => document.hidden || draw(), TICK_MILLIS);
void listing.follow();
addEventListener("load", () => setTimeout(() => void keepForLater()));
