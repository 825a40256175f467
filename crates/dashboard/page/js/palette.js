// Colours come from the style sheet; drawings read them from there, so that light
// and dark are said in one place.

const NAMES = [
  "ground", "raised", "ink", "muted", "faint", "line", "accent", "good", "bad",
  "good-wash", "bad-wash", "relay", "delay", "counter",
];

/** How many colours tokens have; further tokens begin again. */
export const TOKEN_COLOURS = 8;

/**
 * @typedef {Object<string, any> & {token: string[], dark: boolean}} Palette
 */

/** @type {Palette | null} */
let current = null;
const listeners = new Set();
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

/** The colours in force. @returns {Palette} */
export function palette() {
  current ??= read();
  return current;
}

/** Calls back when light turns dark or the other way round. */
export function onPalette(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** "auto", "light" or "dark". */
export function theme() {
  return document.documentElement.dataset.theme ?? "auto";
}

/** Chooses a theme and remembers it. */
export function setTheme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem("headway-theme", name);
  } catch {
    // A browser that keeps nothing still shows the theme.
  }
  refresh();
}

/** The theme chosen last time. */
export function restoreTheme() {
  try {
    const kept = localStorage.getItem("headway-theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // As above.
  }
}

/** Whether the page is dark now. */
export function isDark() {
  return theme() === "dark" || (theme() === "auto" && prefersDark.matches);
}

function read() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  /** @type {any} */
  const colours = { dark: isDark(), token: [] };
  for (const name of NAMES) colours[name.replace("-w", "W")] = value(name);
  for (let number = 0; number < TOKEN_COLOURS; number += 1) colours.token.push(value(`token-${number}`));
  return colours;
}

function refresh() {
  current = null;
  for (const listener of listeners) listener();
}

prefersDark.addEventListener("change", refresh);
