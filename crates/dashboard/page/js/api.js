// The server's interface (API.md), as functions.

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

/**
 * @param {string} method @param {string} path @param {any} [body] sent as JSON, or as it is if it has a type
 * @param {{type?: string, signal?: AbortSignal, keepalive?: boolean}} [options]
 * @returns {Promise<any>}
 */
async function ask(method, path, body, { type, signal, keepalive } = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": type ?? "application/json" },
      body: body === undefined ? undefined : type ? body : JSON.stringify(body),
      signal,
      keepalive,
    });
  } catch {
    if (signal?.aborted) throw new ApiError(0, { code: "aborted", message: "no longer wanted" });
    throw new ApiError(0, { code: "unreachable", message: "headway serve does not answer; is it still running?" });
  }
  if (response.status === 204) return null;
  const text = await response.text().catch(() => "");
  if (signal?.aborted) throw new ApiError(0, { code: "aborted", message: "no longer wanted" });
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new ApiError(response.status, { code: "internal", message: `the server answered ${response.status} without JSON` });
  }
  if (!response.ok) throw new ApiError(response.status, answer.error ?? { code: "internal", message: text });
  return answer;
}

const query = (values) => {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
};

export const about = () => ask("GET", "/api/about");
export const createRun = (settings) => ask("POST", "/api/runs", settings);
export const replaceRun = (id, settings) => ask("PUT", `/api/runs/${id}`, settings);
export const getRun = (id) => ask("GET", `/api/runs/${id}`);
export const dropRun = (id, keepalive) => ask("DELETE", `/api/runs/${id}`, undefined, { keepalive });
export const strike = (id, fault) => ask("POST", `/api/runs/${id}/faults`, fault);
export const frameAt = (id, round, signal) => ask("GET", `/api/runs/${id}/frame?${query({ round })}`, undefined, { signal });
export const stretch = (id, from, rounds, signal) => ask("GET", `/api/runs/${id}/window?${query({ from, rounds })}`, undefined, { signal });
export const stateAt = (id, round) => ask("GET", `/api/runs/${id}/state?${query({ round })}`);
export const seek = (id, round) => ask("POST", `/api/runs/${id}/seek`, { round });
export const play = (id, playing, speed) => ask("POST", `/api/runs/${id}/play`, { playing, speed });
export const flow = (values) => ask("GET", `/api/explore/flow?${query(values)}`);
export const stabilization = (values) => ask("GET", `/api/explore/stabilization?${query(values)}`);
export const chart = (bytes, type) => ask("POST", "/api/charts", bytes, { type });
export const walk = (values) => ask("POST", "/api/walks", values);
export const chain = (values) => ask("GET", `/api/chain?${query(values)}`);
export const asynchrony = (values) => ask("GET", `/api/asynchrony?${query(values)}`);
export const fleet = () => ask("GET", "/api/fleet");
export const events = (path) => new EventSource(path);
