/** The keys of one run's view. */

import { steer } from "./controls.js";

/** @import { RunPage, Tab } from "./run.js" */

/** @type {Tab[]} in the order of their digits */
export const TABS = ["output", "turns", "trace", "events", "proven"];

/** @param {RunPage} page @param {KeyboardEvent} event @returns {boolean} whether it meant something here */
export function runKey(page, event) {
  const { output } = page;
  switch (event.key) {
    case "/":
      page.find();
      return true;
    case "g":
      void output?.toStart();
      return true;
    case "G":
      output?.follow();
      return true;
    case "PageUp":
    case "PageDown":
      if (page.tab !== "output") return false;
      output?.scroll(event.key === "PageUp" ? -1 : 1);
      return true;
    case "j":
    case "k":
      output?.scroll(0, event.key === "k" ? -3 : 3);
      return true;
    case "i":
      page.answer();
      return true;
    case ".":
      if (!page.isOver) void page.steering.interrupt();
      return true;
    case "s":
      if (page.steerable && !page.isOver) void steer(page);
      return true;
    case "p":
      if (page.steerable && !page.isOver) void (page.isPaused ? page.steering.resume() : page.steering.pause());
      return true;
    case "Escape":
      if (page.isFinding) page.endFind();
      else location.hash = "#/";
      return true;
    default: {
      const tab = TABS[Number(event.key) - 1];
      if (!tab) return false;
      page.select(tab);
      return true;
    }
  }
}
