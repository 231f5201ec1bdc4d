/** Says changes of state to a screen reader; never output. */

const region = /** @type {HTMLElement} */ (document.getElementById("announcements"));

/** @param {string} sentence */
export function announce(sentence) {
  region.textContent = sentence;
}
