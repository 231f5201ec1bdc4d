/** A command with a button that copies it. */

import { html } from "../vendor/lit-html/lit-html.js";
import { announce } from "./announce.js";

/** @param {string} command */
export function copyable(command) {
  return html`<span class="copyable"
    ><code>${command}</code
    ><button type="button" class="quiet" aria-label="Copy the command" @click=${(/** @type {Event} */ event) => copy(event, command)}>
      Copy
    </button></span
  >`;
}

/** @param {Event} event @param {string} text */
async function copy(event, text) {
  const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const code = button.previousElementSibling;
    if (code) getSelection()?.selectAllChildren(code);
    return;
  }
  const before = button.textContent;
  button.textContent = "Copied";
  announce("Copied");
  setTimeout(() => (button.textContent = before), 1200);
}
