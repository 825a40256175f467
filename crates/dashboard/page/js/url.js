// What is on show, as a link. Everything that has the default value is left out;
// a state file goes into the part after '#', which is never sent anywhere.

import { ALONE, ROOT } from "./place.js";

/** What one sees first: a pile that pulls itself apart into perfect spacing. */
export const FIRST = Object.freeze({
  processes: 30, tokens: 5, separation: 6, program: "fixed", delays: "all", start: "piled", seed: 2009,
});

/** What each tab shows if its link does not say. */
const FIRST_OF = Object.freeze({
  ring: FIRST,
  explore: { processes: FIRST.processes, tokens: FIRST.tokens, separation: FIRST.separation, seed: FIRST.seed, x: "", y: "", by: "" },
  networks: { network: "figure7", tokens: 3, seed: FIRST.seed },
  lessons: { step: 1 },
  fleet: {},
});

/**
 * What made a run, in a link's words. A state file brings its own sizes.
 * @param {any} run @returns {Object<string, any>}
 */
export function settingsOf({ settings, processes, tokens, separation }) {
  return {
    processes: settings.processes ?? processes, tokens: settings.tokens ?? tokens, separation: settings.separation ?? separation,
    program: settings.program ?? FIRST.program, delays: settings.delays ?? FIRST.delays, start: settings.start ?? FIRST.start, seed: settings.seed,
  };
}

/** Names that are shorter in a link. */
const SHORT = { processes: "n", tokens: "m", separation: "d" };
const LEAST = { n: 2, m: 1, d: 1, step: 1, tokens: 1 };

/**
 * @typedef {object} View
 * @property {string} tab        ring, explore, networks, fleet or lessons
 * @property {Object<string, any>} settings  of the ring, as POSTed to /api/runs, without `round`
 * @property {Object<string, Object<string, any>>} own  settings of the other tabs, once they have some
 * @property {string[]} faults
 * @property {number} round
 * @property {number} speed      rounds a second
 * @property {string | null} state  a packed state file
 * @property {string | null} run    a run to follow
 * @property {string[]} problems    what of the link could not be read
 */

export const TABS = ["ring", "explore", "networks", "fleet", "lessons"];
export const FIRST_SPEED = 6;

/** @param {{pathname: string, search: string, hash: string}} location @returns {View} */
export function read(location) {
  const query = new URLSearchParams(location.search);
  const path = location.pathname.slice(ROOT.length).replace(/^\/+|(\/|^)index\.html$|\/+$/g, "");
  const tab = TABS.includes(path) ? path : "ring";
  const problems = [];
  const number = (short) => {
    const text = query.get(short);
    const value = wholeNumber(text);
    if (text !== null && value === null) problems.push(`${short}=${text}: expected a whole number from ${LEAST[short] ?? 0} on`);
    return value;
  };
  const values = { ...FIRST_OF[tab] };
  for (const [name, first] of Object.entries(values)) {
    const short = SHORT[name] ?? name;
    values[name] = (typeof first === "number" ? number(short) : query.get(short)) ?? first;
  }
  const onRing = tab === "ring";
  // The process that measures, where only one does.
  if (onRing && values.program.startsWith("measure") && !query.has("delays")) values.delays = undefined;
  const speed = Number(query.get("speed"));
  return {
    tab,
    settings: onRing ? values : { ...FIRST },
    own: onRing ? {} : { [tab]: values },
    faults: onRing ? query.getAll("fault") : [],
    round: (onRing ? number("t") : null) ?? 0,
    speed: speed > 0 && Number.isFinite(speed) ? speed : FIRST_SPEED,
    state: onRing ? new URLSearchParams(location.hash.slice(1)).get("state") : null,
    run: onRing ? query.get("run") : null,
    problems,
  };
}

/** A link to the tab on show, with what it shows and nothing of the others. @param {View} view @returns {string} */
export function write(view) {
  const query = new URLSearchParams();
  const { tab } = view;
  const onRing = tab === "ring";
  const values = onRing ? view.settings : view.own[tab] ?? {};
  for (const [name, first] of Object.entries(FIRST_OF[tab])) {
    const value = values[name];
    if (onRing && view.state && name !== "seed") continue;
    // What one process measures is not what a link without a word means.
    const meant = name === "delays" && values.program?.startsWith("measure") ? undefined : first;
    if (value !== undefined && value !== null && value !== meant) query.set(SHORT[name] ?? name, String(value));
  }
  if (onRing) {
    for (const fault of view.faults) query.append("fault", fault);
    // What is shared says itself where it stands.
    if (view.run) query.set("run", view.run);
    else if (view.round) query.set("t", String(view.round));
    if (!view.run && view.speed !== FIRST_SPEED) query.set("speed", String(view.speed));
  }
  // Faults and places read better without escapes, and need none.
  const text = query.toString().replace(/%3A/g, ":").replace(/%40/g, "@").replace(/%2C/g, ",");
  const state = onRing && view.state ? `#state=${view.state}` : "";
  // Alone, every view is a folder with the page in it.
  return ROOT + (onRing ? "" : ALONE ? `${tab}/` : tab) + (text ? `?${text}` : "") + state;
}

/** 12, 1e12, 10^12 and 1 000 000; null for anything that is no whole number. */
export function wholeNumber(text) {
  if (text === null || text === undefined) return null;
  const plain = String(text).replace(/[\s,_'\u202f]/g, "");
  const power = plain.match(/^(\d+)\^(\d+)$/);
  const value = power ? Number(power[1]) ** Number(power[2]) : plain === "" ? Number.NaN : Number(plain);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/**
 * What makes the run of a link.
 * @param {{settings: Object<string, any>, faults?: string[], state?: any}} of  `state` as it is in a file
 */
export function body({ settings, faults = [], state = null }) {
  if (state) return { state, faults, seed: settings.seed };
  const { separation, delays, ...rest } = settings;
  if (settings.program === "moving-block") return { ...rest, separation, faults };
  if (settings.program === "fixed") return { ...rest, separation, delays, faults };
  return { ...rest, delays, faults };
}

/** A state file, small enough for a link. */
export async function pack(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The state file of a link. */
export async function unpack(packed) {
  try {
    const binary = atob(packed.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return await new Response(stream).text();
  } catch {
    throw new Error("the state in it is cut off or damaged");
  }
}
