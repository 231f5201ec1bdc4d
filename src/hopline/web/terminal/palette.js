/** The terminal's colours, light and dark; xterm.js lifts what an application chooses to a contrast of 4.5. */

/** @import { ITheme } from "@xterm/xterm" */

/** @type {ITheme} */
const DARK = {
  background: "#0d1014",
  foreground: "#d5dae1",
  cursor: "#00000000",
  cursorAccent: "#00000000",
  selectionBackground: "#2f4a6d",
  selectionInactiveBackground: "#35608f",
  black: "#21262d",
  red: "#ff8577",
  green: "#63cf8f",
  yellow: "#e3b341",
  blue: "#6cb0ff",
  magenta: "#d2a0ff",
  cyan: "#56c8d8",
  white: "#c3cad3",
  brightBlack: "#77818e",
  brightRed: "#ffa198",
  brightGreen: "#86e0a8",
  brightYellow: "#f2cc60",
  brightBlue: "#9ccbff",
  brightMagenta: "#e2c5ff",
  brightCyan: "#86dbe6",
  brightWhite: "#f3f6f9",
  scrollbarSliderBackground: "#ffffff22",
  scrollbarSliderHoverBackground: "#ffffff3a",
  scrollbarSliderActiveBackground: "#ffffff55",
  overviewRulerBorder: "#00000000",
};

/** @type {ITheme} */
const LIGHT = {
  background: "#ffffff",
  foreground: "#20262e",
  cursor: "#00000000",
  cursorAccent: "#00000000",
  selectionBackground: "#bcd7fb",
  selectionInactiveBackground: "#94bdf2",
  black: "#20262e",
  red: "#b3261e",
  green: "#116a37",
  yellow: "#7d5500",
  blue: "#0a55b4",
  magenta: "#7a35b0",
  cyan: "#0a6673",
  white: "#5c6672",
  brightBlack: "#6b7581",
  brightRed: "#c9372c",
  brightGreen: "#1a7f44",
  brightYellow: "#8f6400",
  brightBlue: "#1c6bd0",
  brightMagenta: "#8f4bc7",
  brightCyan: "#147a88",
  brightWhite: "#3a434d",
  scrollbarSliderBackground: "#00000022",
  scrollbarSliderHoverBackground: "#0000003a",
  scrollbarSliderActiveBackground: "#00000055",
  overviewRulerBorder: "#00000000",
};

/** @param {boolean} dark @param {boolean} cursor  whether there is one: output that goes to a pipe has none */
export function palette(dark, cursor) {
  const colours = dark ? DARK : LIGHT;
  return cursor ? { ...colours, cursor: colours.foreground, cursorAccent: colours.background } : colours;
}
