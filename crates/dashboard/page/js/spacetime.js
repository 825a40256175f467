// Space and time: processes across, rounds down, one line per token. What is past
// is strong, what is forecast is faint; rests are upright and red. Follows the
// present until one pans away.

import { begin, sharp } from "./canvas.js";
import { count, letter, reducedMotion } from "./dom.js";
import { modulo } from "./film.js";
import { onPalette, palette } from "./palette.js";

const LEFT = 46;
const RIGHT = 8;
const TOP = 18;
const BOTTOM = 8;
/** Where the present is while the diagram follows it, as a share of the height. */
const PRESENT = 0.6;

/**
 * @typedef {object} Window what of the diagram is in view
 * @property {number} first     the round at the top
 * @property {number} perRound  pixels
 * @property {number} process   at the left edge, any real number
 * @property {number} across    processes in view
 */

/**
 * Draws films into a box.
 * @param {any} ctx
 * @param {{width: number, height: number}} box
 * @param {Window} view
 * @param {{n: number, films: import("./film.js").Film[], now: number, delays: Uint8Array, faults: number[], colours: any}} what
 */
export function drawSpacetime(ctx, box, view, what) {
  const { n, films, now, colours } = what;
  const width = box.width - LEFT - RIGHT;
  const height = box.height - TOP - BOTTOM;
  const last = view.first + height / view.perRound;
  const perProcess = width / view.across;
  const x = (process) => LEFT + (process + 0.5) * perProcess;
  const y = (round) => TOP + (round - view.first) * view.perRound;

  ctx.save();
  ctx.beginPath();
  ctx.rect(LEFT, TOP, width, height);
  ctx.clip();
  ctx.fillStyle = colours.raised;
  ctx.fillRect(LEFT, TOP, width, height);
  drawLegitimate(ctx, films, colours, { y, width, view, last });
  if (what.focus !== null && what.focus !== undefined) {
    ctx.fillStyle = colours.line;
    ctx.fillRect(LEFT + modulo(what.focus - view.process, n) * perProcess, TOP, Math.max(1.5, perProcess), height);
  }
  const tokens = films[0]?.m ?? 1;
  const crowd = ((width / tokens) * n) / view.across;
  const line = Math.max(0.45, Math.min(2.6, 0.7 + perProcess * 0.2, view.perRound * 0.6 + 0.7, crowd * 0.35));
  const span = { x, y, n, view, last, line, perProcess };
  const parts = apart(films);
  for (const [from, to, alpha] of [[view.first, Math.min(now, last), 1], [Math.max(now, view.first), last, 0.38]]) {
    if (to <= from) continue;
    ctx.globalAlpha = alpha;
    drawWays(ctx, parts, from, to, span, colours);
  }
  ctx.globalAlpha = 1;
  drawFaults(ctx, what.faults, colours, { y, width, view, last });
  if (now >= view.first && now <= last) {
    ctx.strokeStyle = colours.ink;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(LEFT, y(now));
    ctx.lineTo(LEFT + width, y(now));
    ctx.stroke();
  }
  ctx.restore();
  drawAxes(ctx, what, { x, y, view, last, perProcess, width });
}

function drawLegitimate(ctx, films, colours, { y, width, view, last }) {
  ctx.fillStyle = colours.goodWash;
  for (const film of films) {
    for (const [from, to] of film.legitimate) {
      const top = Math.max(view.first - 1, Math.max(from, film.from));
      const bottom = Math.min(last + 1, Math.min(to + 1, film.to));
      if (bottom > top) ctx.fillRect(LEFT, y(top), width, (bottom - top) * (y(1) - y(0)) + 0.5);
    }
  }
}

/** Ways between two rounds, one path per colour, then the rests over them. */
function drawWays(ctx, parts, from, to, span, colours) {
  const { line } = span;
  ctx.lineCap = "round";
  ctx.lineJoin = "round";
  ctx.lineWidth = line;
  const tints = colours.token.length;
  for (let tint = 0; tint < tints; tint += 1) {
    ctx.strokeStyle = colours.token[tint];
    ctx.beginPath();
    for (const part of parts) for (let k = tint; k < part.film.m; k += tints) trace(ctx, part, part.film.ways[k], from, to, span, part.film.delays[0] === 3 ? null : false);
    ctx.stroke();
  }
  ctx.strokeStyle = colours.bad;
  ctx.lineWidth = line * 1.5;
  ctx.beginPath();
  // A token of a moving block that waits is no news.
  for (const part of parts) if (part.film.delays[0] !== 3) for (const way of part.film.ways) trace(ctx, part, way, from, to, span, true);
  ctx.stroke();
}

/** Films may overlap; every round is drawn once. */
function apart(films) {
  let drawn = -1;
  return [...films].sort((a, b) => a.from - b.from).map((film) => {
    const part = { film, from: Math.max(film.from, drawn), to: film.to };
    drawn = Math.max(drawn, film.to);
    return part;
  }).filter((part) => part.to > part.from);
}

/** @param {boolean | null} rests whether to draw rests, or else what moves; null: both */
function trace(ctx, film, way, from, to, { x, y, n, view }, rests) {
  const begin = Math.max(from, film.from);
  const end = Math.min(to, film.to);
  if (end <= begin) return;
  for (let i = way.find(Math.floor(begin)); i < way.start.length && way.start[i] < end; i += 1) {
    const since = way.start[i];
    const until = i + 1 < way.start.length ? way.start[i + 1] : Math.max(way.end, since);
    const a = Math.max(begin, since);
    const b = Math.min(end, until);
    if (b <= a || (rests !== null && way.rest[i] !== rests)) continue;
    if (way.rest[i]) {
      const process = modulo(way.at[i] - view.process, n);
      ctx.moveTo(x(process), y(a));
      ctx.lineTo(x(process), y(b));
      continue;
    }
    // Cut where the ring begins anew at the left edge.
    const speed = way.speed[i];
    let round = a;
    while (round < b - 1e-9) {
      const left = modulo(way.at[i] + (round - since) * speed - view.process, n);
      const stop = Math.min(b, round + (n - left) / speed);
      ctx.moveTo(x(left), y(round));
      ctx.lineTo(x(left + (stop - round) * speed), y(stop));
      if (stop <= round) break;
      round = stop;
    }
  }
}

function drawFaults(ctx, faults, colours, { y, width, view, last }) {
  ctx.strokeStyle = colours.bad;
  ctx.lineWidth = 1.2;
  ctx.setLineDash([5, 4]);
  for (const round of faults) {
    if (round < view.first || round > last) continue;
    ctx.beginPath();
    ctx.moveTo(LEFT, y(round));
    ctx.lineTo(LEFT + width, y(round));
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

function drawAxes(ctx, { n, delays, colours }, { x, y, view, last, perProcess, width }) {
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = colours.muted;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const step = niceStep(28 / view.perRound);
  for (let round = Math.max(0, Math.ceil(view.first / step) * step); round <= last; round += step) {
    ctx.fillText(axisNumber(round), LEFT - 6, y(round));
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  const apart = niceStep(44 / perProcess);
  for (let process = 0; process < n; process += apart) {
    const at = modulo(process - view.process, n);
    if (at <= view.across) ctx.fillText(String(process), Math.min(LEFT + width - 8, x(at)), TOP - 7);
  }
  if (perProcess < 3) return;
  ctx.fillStyle = colours.delay;
  for (let process = 0; process < n; process += 1) {
    const at = modulo(process - view.process, n);
    if (delays[process] && at < view.across) ctx.fillRect(x(at) - 1, TOP - 4, 2, 3);
  }
}

function niceStep(wanted) {
  const least = Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= least) ?? power;
}

/** Far out only the last digits fit. */
export function axisNumber(round) {
  return round < 1e5 ? count(round) : `…${String(round % 10000).padStart(4, "0")}`;
}

export class Spacetime {
  /**
   * @param {HTMLCanvasElement} canvas @param {HTMLElement} tip
   * @param {import("./player.js").Player} player
   */
  constructor(canvas, tip, player) {
    this.canvas = canvas;
    this.tip = tip;
    this.player = player;
    this.following = true;
    this.zoom = 1;
    /** The process that something points at. @type {number | null} */
    this.focused = null;
    /** Told which process and round the pointer is at. @type {(process: number | null, round?: number) => void} */
    this.pointed = () => {};
    /** @type {Window} */ this.view = { first: 0, perRound: 8, process: 0, across: 1 };
    this.box = sharp(canvas, () => this.draw());
    player.on("moment", () => this.draw());
    player.on("run", () => this.fit());
    onPalette(() => this.draw());
    this.listen();
  }

  /** A scale that shows the whole recovery, if that is possible. */
  fit() {
    const segment = this.player.segments[this.player.segmentAt()];
    const end = segment.worst_legitimate_at ?? (segment.jam ? segment.jam.from + 3 * segment.jam.period : null) ?? segment.from + 60;
    // Three turns are enough to see a jam, however late it repeats itself.
    const rounds = Math.max(24, Math.min(2000, 3 * this.player.n, (end - segment.from) * 1.35));
    this.natural = Math.min(14, Math.max(0.4, (this.box.height - TOP - BOTTOM || 300) / rounds));
    if (this.view.across !== this.player.n && this.zoom === 1) Object.assign(this.view, { process: 0, across: this.player.n });
    if (this.view.across > this.player.n) Object.assign(this.view, { process: 0, across: this.player.n });
    this.draw();
  }

  get now() {
    return this.player.round + (reducedMotion.matches ? 0 : this.player.phase);
  }

  draw() {
    const { player, box, view } = this;
    if (!player.run || !box.visible) return;
    if (this.fittedTo !== box.height) {
      this.fittedTo = box.height;
      this.fit();
      return;
    }
    view.perRound = Math.min(60, Math.max(0.02, this.natural * this.zoom));
    const rounds = (box.height - TOP - BOTTOM) / view.perRound;
    if (this.following) view.first = Math.max(0, this.now - rounds * PRESENT);
    view.first = Math.max(0, Math.min(player.run.seekable - 1, view.first));
    const ctx = begin(box);
    const segment = player.segments[player.segmentAt()];
    const films = player.filmsBetween(view.first, view.first + rounds);
    drawSpacetime(ctx, box, view, {
      n: player.n, films, now: this.now, delays: segment.kinds,
      faults: player.segments.slice(1).map((later) => later.from), colours: palette(), focus: this.focused,
    });
  }

  /** Closer (more than 1) or further away, around a height. */
  scale(factor, y = this.box.height * PRESENT) {
    const { view } = this;
    const round = view.first + (y - TOP) / view.perRound;
    this.zoom = Math.min(60 / this.natural, Math.max(0.02 / this.natural, this.zoom * factor));
    view.perRound = this.natural * this.zoom;
    if (!this.following) view.first = round - (y - TOP) / view.perRound;
    this.draw();
  }

  scaleAcross(factor, x) {
    const { view, player } = this;
    const width = this.box.width - LEFT - RIGHT;
    const share = Math.max(0, Math.min(1, (x - LEFT) / width));
    const process = view.process + share * view.across;
    view.across = Math.min(player.n, Math.max(4, view.across / factor));
    view.process = view.across === player.n ? view.process : process - share * view.across;
    this.draw();
  }

  pan(dx, dy) {
    const { view } = this;
    if (Math.abs(dy) > 0) {
      this.following = false;
      view.first = Math.max(0, view.first - dy / view.perRound);
    }
    view.process = modulo(view.process - (dx / (this.box.width - LEFT - RIGHT)) * view.across, this.player.n);
    this.draw();
  }

  /** Back to following the present. */
  reset() {
    this.following = true;
    this.zoom = 1;
    Object.assign(this.view, { process: 0, across: this.player.n });
    this.fit();
  }

  listen() {
    const { canvas } = this;
    const held = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      held.set(event.pointerId, [event.clientX, event.clientY]);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) {
        this.describe(event);
        return;
      }
      const others = [...held].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      if (others.length === 0) this.pan(event.clientX - before[0], event.clientY - before[1]);
      else this.scale(distance([event.clientX, event.clientY], others[0]) / Math.max(1, distance(before, others[0])));
      held.set(event.pointerId, [event.clientX, event.clientY]);
      this.tip.hidden = true;
    });
    const up = (event) => held.delete(event.pointerId);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      this.pointed(null);
    });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const factor = Math.exp(-(event.deltaY || event.deltaX) * 0.0015);
      if (event.shiftKey) this.scaleAcross(factor, event.offsetX);
      else this.scale(factor, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("touchstart", (event) => event.touches.length > 1 && event.preventDefault(), { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const work = {
        ArrowUp: () => this.pan(0, 40), ArrowDown: () => this.pan(0, -40),
        ArrowLeft: () => this.pan(40, 0), ArrowRight: () => this.pan(-40, 0),
        "+": () => this.scale(1.3), "=": () => this.scale(1.3), "-": () => this.scale(1 / 1.3), Escape: () => this.reset(),
      }[event.key];
      if (!work || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      work();
    });
  }

  /** Names the token, the process and the round under the pointer. */
  describe(event) {
    const { player, view, box, tip } = this;
    if (!player.run) return;
    const x = event.offsetX;
    const y = event.offsetY;
    const round = Math.round(view.first + (y - TOP) / view.perRound);
    const film = player.films.find((one) => one.from <= round && round < one.to);
    const perProcess = (box.width - LEFT - RIGHT) / view.across;
    const process = modulo(Math.round(view.process + (x - LEFT) / perProcess - 0.5), player.n);
    if (x < LEFT || y < TOP || round < 0 || !film) {
      tip.hidden = true;
      this.pointed(null);
      return;
    }
    this.pointed(process, round);
    let nearest = Math.max(8, perProcess * 0.7);
    let text = `process ${process} · round ${count(round)}`;
    for (const way of film.ways) {
      const at = modulo(way.hop(round, 0), player.n);
      const away = Math.abs(LEFT + (modulo(at - view.process, player.n) + 0.5) * perProcess - x);
      if (away >= nearest) continue;
      nearest = away;
      const rest = way.restingAt(round) ? way.rests.find(([first, last]) => first <= round && round <= last) : null;
      text = `token ${letter(way.token)} · process ${at} · round ${count(round)}${rest ? ` · rests ${count(rest[0])} to ${count(rest[1])}` : ""}`;
    }
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.min(x + 12, Math.max(0, box.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.min(y + 14, box.height - 26)}px`;
  }
}

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
