/** Small drawings: the shape of a state, and the output rate of the last minutes. A shape says what its colour says. */

import { html, svg } from "../vendor/lit-html/lit-html.js";
import { size } from "../state/words.js";

/** @import { Tone } from "../state/words.js" */

/** @type {Record<Tone, unknown>} */
const SHAPES = {
  waiting: svg`<path d="M8 2 15 14H1Z" />`,
  wrong: svg`<path d="M3 3 13 13M13 3 3 13" class="stroke" />`,
  running: svg`<circle cx="8" cy="8" r="5.5" />`,
  paused: svg`<circle cx="8" cy="8" r="5.25" class="outline" /><path d="M8 2.75a5.25 5.25 0 0 1 0 10.5Z" />`,
  done: svg`<path d="m2.5 8.5 3.6 3.7L13.5 4" class="stroke" />`,
  stopped: svg`<rect x="3" y="3" width="10" height="10" rx="1" />`,
};

/** @param {Tone} tone */
export function mark(tone) {
  return html`<svg class="mark ${tone}" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[tone]}</svg>`;
}

/** @type {Record<string, Tone>} */
const STEPS = {
  active: "running",
  running: "running",
  waiting: "paused",
  done: "done",
  completed: "done",
  failed: "wrong",
  interrupted: "wrong",
};

/** The tone of a span or an execution. @param {string} state @param {string} [mode]  of one that is active @returns {Tone} */
export function toneOfStep(state, mode = "") {
  return state === "active" && mode === "waiting" ? "paused" : (STEPS[state] ?? "stopped");
}

/** @type {Record<"find" | "theme", unknown>} */
const ICONS = {
  find: svg`<circle cx="7" cy="7" r="4.5" class="outline" /><path d="m10.5 10.5 3.5 3.5" class="outline" />`,
  theme: svg`<circle cx="8" cy="8" r="5.5" class="outline" /><path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" />`,
};

/** @param {"find" | "theme"} name */
export function icon(name) {
  return html`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">${ICONS[name]}</svg>`;
}

const WIDTH = 90;
const HEIGHT = 18;

/**
 * @param {number[]} rates  bytes a slot, oldest first
 * @param {number} slots  how many slots the width stands for
 */
export function sparkline(rates, slots = 30) {
  if (!rates.length) return "";
  const most = Math.max(...rates, 1);
  const step = WIDTH / slots;
  const total = rates.reduce((sum, rate) => sum + rate, 0);
  const padded = [...Array(Math.max(0, slots - rates.length)).fill(0), ...rates];
  const bars = padded.map((rate, place) => {
    const height = rate === 0 ? 1 : Math.max(2, Math.sqrt(rate / most) * HEIGHT);
    const x = WIDTH - (padded.length - place) * step;
    return svg`<rect x=${x.toFixed(2)} y=${(HEIGHT - height).toFixed(2)} width=${(step - 0.8).toFixed(2)}
      height=${height.toFixed(2)} class=${rate === 0 ? "none" : ""} />`;
  });
  const words = `${size(total)} recorded in the last 5 minutes`;
  return html`<svg class="sparkline" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${words}>
    <title>${words}</title>
    ${bars}
  </svg>`;
}
