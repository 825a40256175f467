// What can be asked (API.md), as functions; who answers is headway serve over HTTP, or the
// same program in a worker.

import { keep } from "./dom.js";
import { ALONE, ROOT } from "./place.js";

/** An answer that says what was wrong with a request. */
export class ApiError extends Error {
  /** @param {number} status @param {{code: string, message: string, field?: string}} error */
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.field = error.field;
  }
}

/** @type {Worker | null} */
let worker = null;
/** @type {Map<number, (answer: any) => void>} */
const waiting = new Map();
let asked = 0;

/**
 * What the page began to load before its modules (scripts/static-page), once.
 * @type {{worker?: Worker, program?: Promise<WebAssembly.Module | null>}}
 */
const early = /** @type {any} */ (globalThis).early ?? {};
/** @type {Promise<WebAssembly.Module> | null} */
let program = null;

async function compile() {
  const compiled = await early.program;
  if (compiled) return compiled;
  // Not every web server names the type that compiling while it loads wants.
  const response = await fetch(new URL("../headway.wasm", import.meta.url));
  if (!response.ok) throw new Error(`headway.wasm: ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

function startWorker() {
  const started = early.worker ?? new Worker(new URL("./deskworker.js", import.meta.url), { type: "module" });
  early.worker = undefined;
  const fail = () => {
    for (const [id, answer] of waiting) answer({ id, status: 0 });
    waiting.clear();
    worker = null;
    program = null;
  };
  started.addEventListener("message", ({ data }) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  });
  started.addEventListener("error", fail);
  program ??= compile();
  program.then((module) => started.postMessage({ program: module }), () => {
    started.terminate();
    fail();
  });
  worker = started;
}
// It loads while the rest of the page does.
if (ALONE) startWorker();

/** Asks the worker. @returns {Promise<{status: number, text: string}>} */
async function here(method, path, body, type) {
  if (!worker) startWorker();
  const [plain, query = ""] = path.split("?");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body && new Uint8Array(body);
  const id = (asked += 1);
  const answer = await new Promise((done) => {
    waiting.set(id, done);
    worker.postMessage({ id, request: { method, path: plain, query, kind: type ?? "" }, body: bytes });
  });
  if (answer.status === 0) throw new ApiError(0, { code: "unreachable", message: "the program of this page did not load; reload the page" });
  return { status: answer.status, text: new TextDecoder().decode(answer.body) };
}

/** Asks the server. @returns {Promise<{status: number, text: string}>} */
async function there(method, path, body, type, { signal, keepalive }) {
  let response;
  try {
    response = await fetch(ROOT + path.slice(1), { method, headers: type ? { "Content-Type": type } : {}, body, signal, keepalive });
  } catch {
    if (signal?.aborted) throw new ApiError(0, { code: "aborted", message: "no longer wanted" });
    throw new ApiError(0, { code: "unreachable", message: "headway serve does not answer; is it still running?" });
  }
  return { status: response.status, text: await response.text().catch(() => "") };
}

/**
 * @param {string} method @param {string} path @param {any} [body] sent as JSON, or as it is if it has a type
 * @param {{type?: string, signal?: AbortSignal, keepalive?: boolean, raw?: boolean}} [options]
 * @returns {Promise<any>}
 */
async function ask(method, path, body, { type, signal, keepalive, raw } = {}) {
  const sent = body === undefined || type ? body : JSON.stringify(body);
  const kind = body === undefined ? undefined : type ?? "application/json";
  const { status, text } = await (ALONE ? here(method, path, sent, kind) : there(method, path, sent, kind, { signal, keepalive }));
  if (status === 204) return null;
  if (signal?.aborted) throw new ApiError(0, { code: "aborted", message: "no longer wanted" });
  if (raw && status === 200) return text;
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new ApiError(status, { code: "internal", message: `the answer was ${status} without JSON` });
  }
  if (status < 200 || status > 299) throw new ApiError(status, answer.error ?? { code: "internal", message: text });
  return answer;
}

const query = (values) => {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
};

/** What a presenter shows to steer a run; kept for as long as the tab is there. */
export const keyOf = (id) => keep(`headway-key-${id}`);
export const steer = (id, key) => keep(`headway-key-${id}`, key);
const steered = (id) => (keyOf(id) ? `?${query({ key: keyOf(id) })}` : "");

export const about = () => ask("GET", "/api/about");
export const createRun = (settings) => ask("POST", "/api/runs", settings);
export const replaceRun = (id, settings) => ask("PUT", `/api/runs/${id}${steered(id)}`, settings);
export const getRun = (id) => ask("GET", `/api/runs/${id}`);
export const dropRun = (id, keepalive) => ask("DELETE", `/api/runs/${id}${steered(id)}`, undefined, { keepalive });
export const strike = (id, fault) => ask("POST", `/api/runs/${id}/faults${steered(id)}`, fault);
export const frameAt = (id, round, signal) => ask("GET", `/api/runs/${id}/frame?${query({ round })}`, undefined, { signal });
export const stretch = (id, from, rounds, signal) => ask("GET", `/api/runs/${id}/window?${query({ from, rounds })}`, undefined, { signal });
export const lines = (id, round, rounds) => ask("GET", `/api/runs/${id}/lines?${query({ round, rounds })}`);
export const stateAt = (id, round) => ask("GET", `/api/runs/${id}/state?${query({ round })}`);
export const film = (id, from, rounds) => ask("GET", `/api/runs/${id}/film.svg?${query({ from, rounds })}`, undefined, { raw: true });
export const seek = (id, round) => ask("POST", `/api/runs/${id}/seek${steered(id)}`, { round });
export const play = (id, playing, speed) => ask("POST", `/api/runs/${id}/play${steered(id)}`, { playing, speed });
export const present = (id) => ask("POST", `/api/runs/${id}/class`, {});
export const question = (id, open) => ask("POST", `/api/runs/${id}/question${steered(id)}`, { open });
export const guess = (id, who, rounds) => ask("POST", `/api/runs/${id}/guess`, { who, rounds });
export const flow = (values) => ask("GET", `/api/explore/flow?${query(values)}`);
export const stabilization = (values) => ask("GET", `/api/explore/stabilization?${query(values)}`);
export const chart = (bytes, type) => ask("POST", "/api/charts", bytes, { type });
export const walk = (values) => ask("POST", "/api/walks", values);
export const chain = (values) => ask("GET", `/api/chain?${query(values)}`);
export const asynchrony = (values) => ask("GET", `/api/asynchrony?${query(values)}`);
export const tokenRings = (values) => ask("GET", `/api/token-rings?${query(values)}`);
export const fleet = () => ask("GET", "/api/fleet");
export const orderRollout = (name, what) => ask("POST", `/api/fleet/rollouts/${encodeURIComponent(name)}/${what}`);
export const orderNode = (name, what) => ask("POST", `/api/fleet/nodes/${encodeURIComponent(name)}/${what}`);
export const watch = (id) => new EventSource(`${ROOT}api/runs/${id}/events${steered(id)}`);
export const watchFleet = () => new EventSource(`${ROOT}api/fleet/events`);
