// A stretch of a run, as the server answered it, from which every moment in
// between follows: where the tokens are, how piles stand, what counters show.
// Nothing is simulated here; a way is read off, a counter is counted down from the
// release that set it.

/**
 * What is on show at one moment. Arrays are owned by the film and used again for
 * the next moment.
 *
 * @typedef {object} Moment
 * @property {number} round    the state that was reached last
 * @property {number} phase    how far on to the next, 0 to 1
 * @property {number} n
 * @property {number} d
 * @property {number} m
 * @property {Uint8Array} delays      per process: 1 delay, 0 relay, 2 measures, 3 moving block
 * @property {Float64Array} hop       per token: position, 0 ≤ hop < n
 * @property {Float64Array} slot      per token: height in its pile, 0 on the ring
 * @property {Uint8Array} resting     per token
 * @property {Float64Array} gap       per token: hops to the next one ahead
 * @property {Uint8Array} violated    per token: too close to the one ahead or behind
 * @property {Float32Array | null} counter per process
 * @property {number} closest         least gap in the state `round`
 * @property {number} top             C, what a counter starts from
 */

export class Film {
  /**
   * @param {any} answer   of `window`, within one segment
   * @param {{n: number, d: number, delays: Uint8Array}} ring
   */
  constructor(answer, ring) {
    this.from = answer.from;
    this.to = answer.from + answer.rounds;
    this.n = ring.n;
    this.d = ring.d;
    this.delays = ring.delays;
    this.counters = startingCounters(answer);
    this.measuring = answer.measuring.length > 0 ? answer.measuring : null;
    this.legitimate = answer.legitimate;
    this.verdicts = answer.verdicts;
    const kept = answer.ways.filter((way) => way.points[0][0] < this.to || way.points[0][0] === this.from);
    const first = new Map();
    for (const way of kept) first.set(way.token, way);
    /** @type {Way[]} */
    this.ways = [...first.values()].sort((a, b) => a.token - b.token).map((way) => new Way(way));
    this.m = this.ways.length;
    const reals = () => new Float64Array(this.m);
    this.hop = reals();
    this.slot = reals();
    this.slotBefore = reals();
    this.slotAfter = reals();
    this.gap = reals();
    this.resting = new Uint8Array(this.m);
    this.violated = new Uint8Array(this.m);
    this.order = Uint32Array.from(this.ways, (_, index) => index);
    this.slotsOf = -1;
    this.counter = this.counters ? new Float32Array(this.n) : null;
    this.closest = this.n;
  }

  /**
   * The moment `phase` after the state of `round`.
   * @returns {Moment}
   */
  moment(round, phase) {
    const { n, m, hop, slot, resting } = this;
    const next = Math.min(round + 1, this.to);
    if (this.slotsOf !== round) {
      this.stand(next, this.slotAfter);
      this.closest = this.stand(round, this.slotBefore);
      this.slotsOf = round;
    }
    for (let k = 0; k < m; k += 1) {
      const way = this.ways[k];
      hop[k] = modulo(way.hop(round, phase), n);
      resting[k] = way.restingAt(round) ? 1 : 0;
      slot[k] = this.slotBefore[k] + (this.slotAfter[k] - this.slotBefore[k]) * phase;
    }
    this.measureGaps();
    if (this.counter) this.count(round, phase);
    return {
      round, phase, n, m, d: this.d, delays: this.delays, hop, slot, resting, gap: this.gap,
      violated: this.violated, counter: this.counter, closest: this.closest, top: this.top(round),
    };
  }

  /**
   * How piles stand in a state: at one process the token that leaves first is
   * lowest. Returns the least distance between successive tokens.
   */
  stand(round, slots) {
    const at = this.order;
    const { ways, n } = this;
    const process = (k) => modulo(ways[k].hop(round, 0), n);
    at.sort((a, b) => process(a) - process(b) || ways[a].leaves(round) - ways[b].leaves(round) || a - b);
    let closest = n;
    for (let i = 0; i < at.length; i += 1) {
      const here = process(at[i]);
      const sameAsLast = i > 0 && process(at[i - 1]) === here;
      slots[at[i]] = sameAsLast ? slots[at[i - 1]] + 1 : 0;
      if (at.length > 1) {
        const ahead = process(at[(i + 1) % at.length]);
        closest = Math.min(closest, i + 1 < at.length ? ahead - here : ahead + n - here);
      }
    }
    return closest;
  }

  /**
   * From each token to the next ahead, in the order in which they were last sorted,
   * and who is too close to another.
   */
  measureGaps() {
    const { order, hop, gap, n, m } = this;
    for (let i = 0; i < m; i += 1) {
      const ahead = hop[order[(i + 1) % m]];
      const own = hop[order[i]];
      gap[order[i]] = i < m - 1 ? ahead - own : ahead + n - own;
    }
    this.violated.fill(0);
    for (let i = 0; m > 1 && i < m; i += 1) {
      if (gap[order[i]] >= this.d - 1e-6) continue;
      this.violated[order[i]] = 1;
      this.violated[order[(i + 1) % m]] = 1;
    }
  }

  /** C at this moment, for all delays alike. */
  top(round) {
    return this.measuring ? this.measuringAt(round)[0]?.base ?? this.d - 1 : this.d - 1;
  }

  /** How long ago a release can have been whose counter still shows. */
  longestCount() {
    if (!this.measuring) return this.d - 1;
    const bases = this.measuring.map((change) => change.base);
    // Below 0 (the program as printed) a counter never runs down.
    return bases.some((base) => base < 0) ? Infinity : Math.max(this.d, ...bases);
  }

  /** What the measuring processes take C to be. */
  measuringAt(round) {
    const bases = new Map();
    for (const change of this.measuring ?? []) if (change.round <= round) bases.set(change.process, change.base);
    return [...bases].map(([process, base]) => ({ process, base }));
  }

  /** Counters: what is left of the first ones, and of those set by releases since. */
  count(round, phase) {
    const { counter, delays, n, from } = this;
    const passed = round - from + phase;
    counter.fill(0);
    for (const [process, value] of this.counters) {
      counter[process] = value < 0 ? value : Math.max(0, value - passed);
    }
    const longest = this.longestCount();
    for (const way of this.ways) {
      way.releases(Math.max(from + 1, round - longest), round, (released, at) => {
        const process = modulo(at, n);
        if (!delays[process] || delays[process] === 3) return;
        const start = this.top(released);
        const left = start < 0 ? start : Math.max(0, start - (round - released) - phase);
        if (start < 0 || left > counter[process]) counter[process] = left;
      });
    }
  }
}

/** Counters in the first state; where a fault struck in it, those after the fault. */
function startingCounters({ from, counters, faults }) {
  const struck = faults.filter((fault) => fault.round === from);
  return struck.length > 0 ? struck[struck.length - 1].counters : counters;
}

/** The way of one token: stretches in which it moves, one hop a round or at its own speed, and in which it rests. */
export class Way {
  constructor({ token, points, rests }) {
    this.token = token;
    this.rests = rests;
    /** @type {number[]} */ this.start = [];
    /** @type {number[]} */ this.at = [];
    /** @type {number[]} */ this.speed = [];
    /** @type {boolean[]} */ this.rest = [];
    const end = points[points.length - 1];
    for (let i = 0; i + 1 < points.length; i += 1) {
      const [round, hop] = points[i];
      const [until, then] = points[i + 1];
      if (until === round) continue;
      this.push(round, hop, (then - hop) / (until - round));
    }
    const last = rests[rests.length - 1];
    this.push(end[0], end[1], last && last[0] <= end[0] && end[0] <= last[1] ? 0 : 1);
    this.end = end[0];
    this.cursor = 0;
  }

  push(round, hop, speed) {
    this.start.push(round);
    this.at.push(hop);
    this.speed.push(speed);
    this.rest.push(speed === 0);
  }

  /** The stretch that a state is in; mostly the one of the last question. */
  find(round) {
    const { start } = this;
    let i = this.cursor;
    if (start[i] > round || (i + 1 < start.length && start[i + 1] <= round)) {
      let low = 0;
      let high = start.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (start[middle] <= round) low = middle;
        else high = middle - 1;
      }
      i = low;
    }
    this.cursor = i;
    return i;
  }

  /** The position on the unrolled ring. */
  hop(round, phase) {
    const i = this.find(round);
    return round >= this.end ? this.at[i] : this.at[i] + (round - this.start[i] + phase) * this.speed[i];
  }

  restingAt(round) {
    return this.rest[this.find(round)];
  }

  /** When a token that is in a pile leaves it: now, or when its rest ends. */
  leaves(round) {
    const i = this.find(round);
    if (!this.rest[i]) return round;
    return i + 1 < this.start.length ? this.start[i + 1] : Infinity;
  }

  /** Calls back for every state from `first` to `last` into which it was released. */
  releases(first, last, call) {
    for (let i = this.find(last); i >= 0; i -= 1) {
      const begin = Math.max(first, this.start[i]);
      const end = Math.min(last, i + 1 < this.start.length ? this.start[i + 1] - 1 : this.end);
      if (!this.rest[i]) for (let round = begin; round <= end; round += 1) call(round, this.at[i] + round - this.start[i]);
      if (this.start[i] <= first) break;
    }
  }
}

/** The remainder that is never negative. */
export function modulo(value, n) {
  const rest = value % n;
  return rest < 0 ? rest + n : rest;
}

/** Per process: 1 delay, 2 measures, 3 moving block, 0 relay. */
export function kinds({ processes, program }, segment) {
  const kind = new Uint8Array(processes).fill(program === "moving-block" ? 3 : 0);
  for (const [first, last] of segment.delays) kind.fill(1, first, last + 1);
  for (const process of segment.measurers) kind[process] = 2;
  return kind;
}
