/** The picture of how fast a run wrote. Its library is loaded with the first run, after the output is there. */

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { onTheme } from "../shell/settings.js";
import { clock, size } from "../state/words.js";

/** @typedef {import("../vendor/uplot/uPlot.esm.js").default} uPlot */
/** @typedef {typeof import("../vendor/uplot/uPlot.esm.js").default} Library */
/** @import { Rate } from "../state/rate.js" */

const HEIGHT = 120;
/** How often it is drawn anew while a run writes. */
const DRAW_MILLIS = 1000;
/** Seconds between two labels of the time, whichever fits. */
const TICKS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400, 604_800];
const SHEET = "/assets/vendor/uplot/uPlot.min.css";

export class RateChart {
  #place = document.createElement("div");
  #onChange;
  /** @type {Library | null} */
  #library = null;
  #loading = false;
  /** @type {uPlot | null} */
  #chart = null;
  #drawnAt = 0;
  /** The first moment that is drawn: history was loaded when it changes. */
  #first = 0;
  /** What the pointer is on, in words. */
  #pointed = "";
  #sizes = new ResizeObserver(() => this.#resized());
  #endTheme = onTheme(() => this.#discard());

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.#onChange = onChange;
    this.#place.className = "chart";
    this.#sizes.observe(this.#place);
  }

  /**
   * @param {Rate} rate
   * @param {number | null} until  the present, for a run that goes on
   * @param {boolean} whole  whether everything that it wrote is among the events that were loaded
   */
  template(rate, until, whole) {
    if (rate.empty) return nothing;
    const { times, rates } = rate.series(until);
    this.#draw(times, rates, performance.now());
    const most = Math.max(...rates);
    const at = times[rates.indexOf(most)] ?? 0;
    const told = `most ${perSecond(most)} at ${clockOf(at)}`;
    const span = `${clockOf(times[0] ?? 0)} to ${clockOf(times.at(-1) ?? 0)}${whole ? "" : ", of the events that are loaded"}`;
    return html`<section class="rate" aria-label="Output rate">
      <h2>Output rate</h2>
      <div role="img" aria-label="Output rate from ${span}: ${told}">${this.#place}</div>
      <p class="quiet">${this.#pointed || told}</p>
      <p class="quiet">${span}</p>
    </section>`;
  }

  dispose() {
    this.#endTheme();
    this.#sizes.disconnect();
    this.#discard();
  }

  /** @param {number[]} times @param {number[]} rates @param {number} now */
  #draw(times, rates, now) {
    if (!this.#library) return void this.#load();
    const width = this.#place.clientWidth;
    if (!width || (this.#chart && times[0] === this.#first && now - this.#drawnAt < DRAW_MILLIS)) return;
    this.#drawnAt = now;
    this.#first = times[0] ?? 0;
    if (this.#chart) this.#chart.setData([times, rates]);
    else this.#chart = new this.#library(this.#options(width), [times, rates], this.#place);
  }

  async #load() {
    if (this.#loading) return;
    this.#loading = true;
    if (!document.querySelector(`link[href="${SHEET}"]`)) {
      const sheet = document.createElement("link");
      sheet.rel = "stylesheet";
      sheet.href = SHEET;
      document.head.append(sheet);
    }
    try {
      this.#library = (await import("../vendor/uplot/uPlot.esm.js")).default;
    } catch {
      return; // its words are there all the same
    }
    this.#onChange();
  }

  /** @param {number} width @returns {ConstructorParameters<Library>[0]} */
  #options(width) {
    const style = getComputedStyle(document.documentElement);
    const colour = (/** @type {string} */ name) => resolved(style.getPropertyValue(name));
    const axis = { stroke: colour("--quiet"), font: `11px ${style.getPropertyValue("--words")}`, ticks: { show: false } };
    const grid = { stroke: colour("--line"), width: 1 };
    return {
      width,
      height: HEIGHT,
      padding: [8, 26, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      hooks: { setCursor: [(chart) => this.#point(chart)] },
      scales: { y: { range: (_, __, most) => [0, Math.max(most, 1)] } },
      axes: [
        { ...axis, grid: { show: false }, size: 24, space: 70, incrs: TICKS, values: (_, times) => times.map(clockOf) },
        { ...axis, grid, size: 58, space: 28, values: (_, rates) => rates.map((rate) => (rate < 0 ? "" : size(rate))) },
      ],
      series: [{}, { stroke: colour("--running"), fill: `${colour("--running")}33`, width: 1.5, points: { show: false } }],
    };
  }

  /** @param {uPlot} chart */
  #point(chart) {
    const at = chart.cursor.idx;
    const time = at === null || at === undefined ? undefined : chart.data[0][at];
    const rate = at === null || at === undefined ? undefined : chart.data[1]?.[at];
    const words = time === undefined || rate === undefined || rate === null ? "" : `${perSecond(rate)} at ${clockOf(time)}`;
    if (words === this.#pointed) return;
    this.#pointed = words;
    this.#onChange();
  }

  #resized() {
    const width = this.#place.clientWidth;
    if (this.#chart && width) this.#chart.setSize({ width, height: HEIGHT });
    else if (width) this.#onChange();
  }

  #discard() {
    this.#chart?.destroy();
    this.#chart = null;
    this.#pointed = "";
    this.#onChange();
  }
}

/** @param {number} bytes */
function perSecond(bytes) {
  return `${size(bytes)}/s`;
}

/** @param {number} seconds */
function clockOf(seconds) {
  return clock(new Date(seconds * 1000).toISOString());
}

const probe = document.createElement("canvas").getContext("2d");

/** A colour that a canvas understands: one of the two of light-dark(), as six hex digits. @param {string} value */
function resolved(value) {
  const both = /^light-dark\((.*), (.*)\)$/.exec(value.trim());
  const dark = document.documentElement.dataset.theme === "dark";
  const chosen = both ? (dark ? both[2] : both[1]) : value;
  if (!probe || !chosen) return "#888888";
  probe.fillStyle = "#888888";
  probe.fillStyle = chosen;
  return probe.fillStyle;
}
