/** What this browser remembers of its person's choices. Storage that is not there changes nothing but that. */

/** @typedef {"auto" | "light" | "dark"} Theme */

/** @param {string} name @param {string} otherwise */
function get(name, otherwise) {
  try {
    return localStorage.getItem(`hopline.${name}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {string} name @param {string} value */
function set(name, value) {
  try {
    localStorage.setItem(`hopline.${name}`, value);
  } catch {
    // a private window may refuse
  }
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

export const settings = {
  /** @returns {Theme} */
  get theme() {
    const value = get("theme", "auto");
    return value === "light" || value === "dark" ? value : "auto";
  },
  set theme(value) {
    set("theme", value);
    applyTheme();
  },
  get pan() {
    return get("pan", "") === "yes";
  },
  set pan(value) {
    set("pan", value ? "yes" : "");
  },
  get spoken() {
    return get("spoken", "") === "yes";
  },
  set spoken(value) {
    set("spoken", value ? "yes" : "");
  },
};

/** Whether the page is dark at the moment. */
export function isDark() {
  return settings.theme === "dark" || (settings.theme === "auto" && DARK.matches);
}

/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {() => void} listener @returns {() => void} ends it */
export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

/** The next of auto, light and dark. */
export function nextTheme() {
  settings.theme = settings.theme === "auto" ? (isDark() ? "light" : "dark") : settings.theme === "dark" ? "light" : "dark";
}

DARK.addEventListener("change", applyTheme);

const MAX_SEEN = 500;

/** Runs that a person has opened since they ended: what failed in them is known. */
const seen = new Set(get("seen", "").split(" ").filter(Boolean));

/** @param {string} id */
export function wasSeen(id) {
  return seen.has(id);
}

/** @param {string} id */
export function markSeen(id) {
  if (seen.has(id)) return;
  seen.add(id);
  set("seen", [...seen].slice(-MAX_SEEN).join(" "));
}
