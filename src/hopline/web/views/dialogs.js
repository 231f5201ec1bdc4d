/** The questions and the help that stand over the page. */

import { html, render } from "../vendor/lit-html/lit-html.js";
import { settings } from "../shell/settings.js";

const host = /** @type {HTMLDialogElement} */ (document.getElementById("dialog"));

host.addEventListener("click", (event) => {
  if (event.target === host) host.close("");
});

/**
 * @param {unknown} content
 * @returns {Promise<string>} the value of the button that was pressed, "" when it was left
 */
function show(content) {
  render(html`<form method="dialog">${content}</form>`, host);
  host.returnValue = "";
  host.showModal();
  return new Promise((resolve) => host.addEventListener("close", () => resolve(host.returnValue), { once: true }));
}

/** Whether a dialog stands open. */
export function isAsking() {
  return host.open;
}

const GRACES = [
  [1, "1 second"],
  [10, "10 seconds"],
  [60, "1 minute"],
  [600, "10 minutes"],
];

/**
 * Ask before a worker is ended.
 *
 * @param {"Stop" | "Restart"} verb
 * @param {string} name
 * @param {string} ends  what it will end, in words
 * @param {number} seconds  the usual grace
 * @returns {Promise<number | null>} how long it may take to leave; null when the person thought better of it
 */
export async function askToEnd(verb, name, ends, seconds) {
  const rest = verb === "Stop" ? "Its record stays." : "Its command is then started again in the same run.";
  const answer = await show(html`
    <h2>${verb} ${name}?</h2>
    <p>This ends ${ends}. ${rest}</p>
    <label class="grace"
      >It may take
      <select name="grace">
        ${GRACES.map(([value, words]) => html`<option value=${value} .selected=${value === seconds}>${words}</option>`)}
      </select>
      to leave; then it is killed.</label
    >
    <menu>
      <button value="" class="quiet">Cancel</button>
      <button value="yes" class=${verb === "Stop" ? "danger" : "primary"} autofocus>${verb}</button>
    </menu>
  `);
  const chosen = host.querySelector("select")?.value;
  return answer === "yes" ? Number(chosen ?? seconds) : null;
}

/** @param {string} question @param {string} button @returns {Promise<string>} "" when nothing was written */
export async function askForText(question, button) {
  const answer = await show(html`
    <h2>${question}</h2>
    <textarea name="text" rows="4" autofocus aria-label=${question}></textarea>
    <menu>
      <button value="" class="quiet">Cancel</button>
      <button value="yes" class="primary">${button}</button>
    </menu>
  `);
  const text = host.querySelector("textarea")?.value.trim() ?? "";
  return answer === "yes" ? text : "";
}

const KEYS = [
  ["/", "search the runs, find in the output"],
  ["j k", "next and previous run; down and up the output"],
  ["Enter", "open the run"],
  ["Esc", "back"],
  ["g G", "to the beginning, to live"],
  ["i", "write to the worker's input, or answer it"],
  [".", "interrupt the worker"],
  ["s", "steer the agent"],
  ["p", "pause the agent, or let it go on"],
  ["1 2 3 4 5", "output, turns, trace, events, proven"],
  ["t", "light or dark"],
  ["?", "these keys"],
];

/** @param {() => void} onSpoken  the screen reader's choice changed */
export function showKeys(onSpoken) {
  return show(html`
    <h2>Keys</h2>
    <dl class="keys">
      ${KEYS.map(
        ([keys, words]) =>
          html`<div>
            <dt>${keys?.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt>
            <dd>${words}</dd>
          </div>`,
      )}
    </dl>
    <label class="choice"
      ><input
        type="checkbox"
        .checked=${settings.spoken}
        @change=${() => ((settings.spoken = !settings.spoken), onSpoken())}
      />
      let a screen reader read the output</label
    >
    <menu><button value="" class="primary" autofocus>Close</button></menu>
  `);
}
