// What is on show, as a link. Everything that has the default value is left out;
// a state file goes into the part after '#', which is never sent anywhere.

/** What one sees first: a pile that pulls itself apart into perfect spacing. */
export const FIRST = Object.freeze({
  processes: 30, tokens: 5, separation: 6, program: "fixed", delays: "all", start: "piled", seed: 2009,
});

const NUMBERS = { n: "processes", m: "tokens", d: "separation", seed: "seed" };
const WORDS = { program: "program", delays: "delays", start: "start" };

/**
 * @typedef {object} View
 * @property {string} tab        ring, explore, networks, fleet or lessons
 * @property {Object<string, any>} settings  as POSTed to /api/runs, without `round`
 * @property {string[]} faults
 * @property {number} round
 * @property {number} speed      rounds a second
 * @property {Object<string, string>} extra  settings of the other tabs
 * @property {string | null} state  a packed state file
 * @property {string | null} run    a run to follow
 */

export const TABS = ["ring", "explore", "networks", "fleet", "lessons"];
export const FIRST_SPEED = 6;

/** The names of other tabs' settings. */
const EXTRA = ["step", "network", "samples", "x", "y", "by"];

/** @param {{pathname: string, search: string, hash: string}} location @returns {View} */
export function read(location) {
  const query = new URLSearchParams(location.search);
  const path = location.pathname.replace(/^\/+|\/+$/g, "");
  const settings = { ...FIRST };
  for (const [short, name] of Object.entries(NUMBERS)) {
    const value = wholeNumber(query.get(short));
    if (value !== null) settings[name] = value;
  }
  for (const [short, name] of Object.entries(WORDS)) {
    const value = query.get(short);
    if (value) settings[name] = value;
  }
  /** @type {Object<string, string>} */
  const extra = {};
  for (const name of EXTRA) {
    const value = query.get(name);
    if (value !== null) extra[name] = value;
  }
  const speed = Number(query.get("speed"));
  return {
    tab: TABS.includes(path) ? path : "ring",
    settings,
    faults: query.getAll("fault"),
    round: wholeNumber(query.get("t")) ?? 0,
    speed: speed > 0 && Number.isFinite(speed) ? speed : FIRST_SPEED,
    extra,
    state: new URLSearchParams(location.hash.slice(1)).get("state"),
    run: query.get("run"),
  };
}

/** @param {View} view @returns {string} */
export function write(view) {
  const query = new URLSearchParams();
  if (!view.state) {
    for (const [short, name] of [...Object.entries(NUMBERS), ...Object.entries(WORDS)]) {
      const value = view.settings[name];
      if (value !== undefined && value !== null && value !== FIRST[name]) query.set(short, String(value));
    }
  }
  for (const fault of view.faults) query.append("fault", fault);
  if (view.round) query.set("t", String(view.round));
  if (view.speed !== FIRST_SPEED) query.set("speed", String(view.speed));
  for (const name of EXTRA) if (view.extra[name] !== undefined) query.set(name, view.extra[name]);
  if (view.run) query.set("run", view.run);
  // Faults and places read better without escapes, and need none.
  const text = query.toString().replace(/%3A/g, ":").replace(/%40/g, "@").replace(/%2C/g, ",");
  const path = view.tab === "ring" ? "/" : `/${view.tab}`;
  return path + (text ? `?${text}` : "") + (view.state ? `#state=${view.state}` : "");
}

/** 12, 1e12, 10^12 and 1 000 000; null for anything that is no whole number. */
export function wholeNumber(text) {
  if (text === null || text === undefined) return null;
  const plain = String(text).replace(/[\s,_'\u202f]/g, "");
  const power = plain.match(/^(\d+)\^(\d+)$/);
  const value = power ? Number(power[1]) ** Number(power[2]) : plain === "" ? Number.NaN : Number(plain);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
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
  const binary = atob(packed.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}
