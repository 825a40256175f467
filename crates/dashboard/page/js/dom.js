// A few words for building and finding elements.

/**
 * Builds an element. Attributes that begin with "on" are listeners; `class`,
 * `text` and `hidden` are what they say; everything else becomes an attribute.
 *
 * @param {string} tag
 * @param {Object<string, any>} [attributes]
 * @param {...(Node|string|null|undefined|false)} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. @returns {any} */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** The element with this id; its absence is a mistake in index.html. @returns {any} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no element "${id}"`);
  return element;
}

/** All elements that a selector finds. @returns {any[]} */
export function all(selector) {
  return [...document.querySelectorAll(selector)];
}

/** Sets text only when it differs, so that screen readers are not told twice. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** 1,234,567 with thin spaces, as the page writes large numbers. */
export function count(number) {
  const digits = String(Math.trunc(Number(number)));
  return digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** Whether a run's program finds the separation by itself. */
export const measures = (program) => !["fixed", "delay", "relay", "mixed", "moving-block"].includes(program);

/** A token's name: A, B, …, Z, then numbers. */
export function letter(token) {
  return token < 26 ? String.fromCharCode(65 + token) : String(token);
}

/** A fault as a link has it (`move:24:27#0@12`), in words. */
export function faultWords(fault) {
  const [, kind, what = "", token, round] = /^(\w+):?([^#@]*)(?:#(\d+))?(?:@(\d+))?$/.exec(fault) ?? [fault, fault];
  const [process, to] = what.split(":");
  const words = {
    scramble: `${what || "all"} scrambled`, pile: what ? `piled up at ${what}` : "piled up",
    move: `${token === undefined ? "a token" : letter(Number(token))} moved ${process} → ${to}`,
    counter: `counter of ${process} set to ${to}`, program: `${process} made a ${to}`,
  }[kind] ?? fault;
  return round === undefined ? words : `${words}, round ${count(round)}`;
}

/** "1 token", "3 tokens". */
export function plural(number, noun) {
  return `${count(number)} ${noun}${Number(number) === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
}

/** Whether the reader asked for less motion. */
export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** @type {Map<string, string>} */
const kept = new Map();

/** What is kept under a name for as long as the tab is there, also when it is loaded anew. */
export function keep(name, value) {
  try {
    if (value !== undefined) sessionStorage.setItem(name, value);
    return sessionStorage.getItem(name);
  } catch {
    if (value !== undefined) kept.set(name, value);
    return kept.get(name) ?? null;
  }
}

/** A short message that goes away; errors stay longer. */
export function toast(message, kind = "note") {
  const box = byId("toasts");
  // The same again is no news.
  if ([...box.children].some((shown) => shown.textContent === message)) return;
  const line = h("div", { class: `toast ${kind}`, role: kind === "error" ? "alert" : "status" }, message);
  box.append(line);
  setTimeout(() => line.remove(), kind === "error" ? 9000 : 4000);
}

/** Waits until there have been no calls for this many milliseconds. */
export function settled(work, milliseconds) {
  /** @type {any} */
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), milliseconds);
  };
}
