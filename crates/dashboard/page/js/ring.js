// The ring as a picture: processes on a circle, counters that run down, tokens as
// beads, and the separation as a halo around each that turns red when another
// token's halo overlaps it. Up to LARGEST_SINGLE processes one by one, beyond that
// as a density band.

import { letter } from "./dom.js";

/** More processes than this are drawn as a band. */
export const LARGEST_SINGLE = 1500;

const TURN = 2 * Math.PI;
const BANDS = 720;
/** Beads of this radius have room for a letter. */
const SMALLEST_LETTERED = 7;

/**
 * Where everything is, for a ring of n in a box.
 * @typedef {ReturnType<typeof layout>} Layout
 */
export function layout(width, height, n, m = 1) {
  const size = Math.min(width, height);
  const margin = Math.max(30, Math.min(88, size * 0.13));
  const radius = Math.max(2, size / 2 - margin);
  const spacing = (TURN * radius) / n;
  const single = n <= LARGEST_SINGLE;
  // Beads stay visible on large rings, but not larger than the room a token has.
  const room = (TURN * radius) / Math.max(1, m);
  const bead = Math.max(Math.min(12, spacing * 0.4), Math.min(single ? 5.5 : 4, room * 0.3), 1.2);
  return {
    width, height, n, m, radius, spacing, single, bead, margin,
    x: width / 2,
    y: height / 2,
    mark: Math.max(0.8, Math.min(4.5, spacing * 0.15)),
    arcs: spacing >= 20,
    arc: Math.min(16, spacing * 0.42),
    halo: Math.max(8, Math.min(34, spacing * 1.1, radius * 0.2)),
    bar: radius * 0.16,
    /** Process 0 is at the top; tokens go clockwise. */
    angle: (hop) => (hop / n) * TURN - Math.PI / 2,
  };
}

/** The process at a point, and on which part of the ring the point is. */
export function hit(where, x, y) {
  const dx = x - where.x;
  const dy = y - where.y;
  const distance = Math.hypot(dx, dy);
  const turn = (Math.atan2(dy, dx) + Math.PI / 2 + TURN) % TURN;
  const process = Math.round((turn / TURN) * where.n) % where.n;
  const reach = Math.max(9, Math.min(where.arc, 15));
  const inside = where.radius - reach;
  let part = "ground";
  if (Math.abs(distance - where.radius) <= reach) part = "process";
  else if (distance < inside && distance > inside - where.bar) part = "counter";
  else if (distance > where.radius && distance < where.radius + where.margin) part = "outside";
  const depth = Math.max(0, Math.min(1, (inside - distance) / where.bar));
  return { process, part, depth, distance };
}

/** Where a token's bead is. */
export function beadAt(where, moment, token) {
  const step = pileStep(where, moment);
  const radius = where.radius + moment.slot[token] * step;
  const angle = where.angle(moment.hop[token]);
  return [where.x + radius * Math.cos(angle), where.y + radius * Math.sin(angle)];
}

/** Beads of a pile touch, unless the pile is too high for the margin. */
function pileStep(where, moment) {
  let highest = 1;
  for (let k = 0; k < moment.m; k += 1) highest = Math.max(highest, moment.slot[k]);
  return Math.min(where.bead * 1.6, (where.margin - where.bead - 4) / highest);
}

/**
 * What does not move: the circle, the processes, their numbers.
 * @param {any} ctx @param {Layout} where @param {Uint8Array} delays @param {any} colours
 */
export function drawStill(ctx, where, delays, colours) {
  const { x, y, radius, n } = where;
  ctx.lineWidth = 1;
  ctx.strokeStyle = colours.line;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, TURN);
  ctx.stroke();
  if (where.single) drawProcesses(ctx, where, delays, colours);
  else drawPrograms(ctx, where, delays, colours);
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = colours.muted;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const inner = radius - (where.arcs ? where.arc + 13 : where.bar + 20);
  // What the middle says needs the room.
  const labels = inner < 80 ? [] : labelled(n);
  for (const process of labels) {
    const angle = where.angle(process);
    ctx.fillText(String(process), x + inner * Math.cos(angle), y + inner * Math.sin(angle));
  }
}

/** Some round numbers, about eight. */
function labelled(n) {
  const wanted = n / 8;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= wanted) ?? power;
  const labels = [];
  for (let process = 0; process < n - step * 0.6 || process === 0; process += step) labels.push(process);
  return labels;
}

function drawProcesses(ctx, where, delays, colours) {
  const { x, y, radius, n, mark } = where;
  const dot = (process, size) => {
    const angle = where.angle(process);
    const px = x + radius * Math.cos(angle);
    const py = y + radius * Math.sin(angle);
    ctx.moveTo(px + size, py);
    ctx.arc(px, py, size, 0, TURN);
  };
  // Relays are open, delays are full; with a counter to run down they have a rim.
  ctx.beginPath();
  for (let process = 0; process < n; process += 1) if (!delays[process]) dot(process, mark);
  ctx.fillStyle = colours.ground;
  ctx.fill();
  ctx.strokeStyle = colours.relay;
  ctx.lineWidth = Math.max(0.6, Math.min(1.3, mark * 0.4));
  ctx.stroke();
  if (where.arcs) {
    ctx.beginPath();
    for (let process = 0; process < n; process += 1) if (delays[process] && delays[process] < 3) dot(process, where.arc);
    ctx.fillStyle = colours.ground;
    ctx.fill();
    ctx.strokeStyle = colours.line;
    ctx.lineWidth = 1.5;
    ctx.stroke();
  }
  ctx.beginPath();
  for (let process = 0; process < n; process += 1) if (delays[process]) dot(process, mark);
  ctx.fillStyle = colours.delay;
  ctx.fill();
}

/** Many processes: the share of delays along the circle, as a thin band. */
function drawPrograms(ctx, where, delays, colours) {
  const { x, y, radius, n } = where;
  const share = new Float32Array(BANDS);
  for (let process = 0; process < n; process += 1) if (delays[process]) share[Math.floor((process / n) * BANDS)] += BANDS / n;
  ctx.strokeStyle = colours.delay;
  ctx.lineWidth = 3;
  for (let band = 0; band < BANDS; band += 1) {
    if (share[band] === 0) continue;
    ctx.globalAlpha = 0.12 + 0.5 * Math.min(1, share[band]);
    ctx.beginPath();
    ctx.arc(x, y, radius, where.angle((band / BANDS) * n), where.angle(((band + 1) / BANDS) * n));
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

/**
 * What moves.
 * @param {any} ctx @param {Layout} where @param {import("./film.js").Moment} moment @param {any} colours
 * @param {{failing?: number | null, selection?: [number, number] | null, cursor?: number | null, lifted?: {token: number, hop: number} | null, focus?: number | null, lit?: number[], dress?: string}} [marks]
 */
export function drawMoving(ctx, where, moment, colours, marks = {}) {
  if (marks.selection) drawSelection(ctx, where, marks.selection, colours);
  drawHalos(ctx, where, moment, colours);
  if (where.single && moment.counter) drawCounters(ctx, where, moment, colours);
  if (where.single) drawBeads(ctx, where, moment, colours, marks.lifted, marks.dress);
  else drawDensity(ctx, where, moment, colours);
  for (const process of marks.lit ?? []) drawCursor(ctx, where, process, colours);
  if (marks.focus !== null && marks.focus !== undefined && marks.focus !== marks.cursor) drawCursor(ctx, where, marks.focus, colours);
  if (marks.failing !== null && marks.failing !== undefined) drawFailing(ctx, where, marks.failing, colours);
  if (marks.cursor !== null && marks.cursor !== undefined) drawCursor(ctx, where, marks.cursor, colours);
}

/** Which token is the k-th, where there may be several of a name. */
const namesOf = ({ names }) => (k) => names?.[k] ?? k;

/** Half of d on either side: halos touch when tokens are d apart. */
function drawHalos(ctx, where, moment, colours) {
  const { x, y, radius } = where;
  const { m, d, n, hop, slot, violated } = moment;
  const name = namesOf(moment);
  if (!where.single && m > 400) return;
  ctx.lineWidth = where.halo;
  ctx.lineCap = "butt";
  const half = Math.min(d, n) / 2;
  for (let k = 0; k < m; k += 1) {
    const share = Math.max(0, 1 - slot[k]);
    if (share === 0) continue;
    ctx.globalAlpha = (violated[k] ? 0.34 : 0.22) * share;
    ctx.strokeStyle = violated[k] ? colours.bad : colours.token[name(k) % colours.token.length];
    ctx.beginPath();
    ctx.arc(x, y, radius, where.angle(hop[k] - half), where.angle(hop[k] + half) - 1e-4);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

function drawCounters(ctx, where, moment, colours) {
  const { x, y, radius, n } = where;
  const { counter, top } = moment;
  if (top < 1 && !counter.some((value) => value !== 0)) return;
  const full = Math.max(1, top);
  ctx.strokeStyle = colours.counter;
  ctx.lineCap = where.arcs ? "round" : "butt";
  ctx.lineWidth = where.arcs ? 3 : Math.max(0.8, Math.min(5, where.spacing * 0.55));
  ctx.beginPath();
  for (let process = 0; process < n; process += 1) {
    if (counter[process] === 0) continue;
    const share = counter[process] < 0 ? 1 : Math.min(1, counter[process] / full);
    const angle = where.angle(process);
    const cos = Math.cos(angle);
    const sin = Math.sin(angle);
    if (where.arcs) {
      const px = x + radius * cos;
      const py = y + radius * sin;
      // The arc begins on the outside and runs down clockwise.
      const end = angle + TURN * share;
      ctx.moveTo(px + where.arc * Math.cos(angle), py + where.arc * Math.sin(angle));
      ctx.arc(px, py, where.arc, angle, Math.min(end, angle + TURN - 1e-3));
    } else {
      const from = radius - where.halo / 2 - 3;
      const to = from - where.bar * share;
      ctx.moveTo(x + from * cos, y + from * sin);
      ctx.lineTo(x + to * cos, y + to * sin);
    }
  }
  ctx.stroke();
}

/** A token: its colour, and its letter, so that nobody has to tell colours apart. */
export function drawBead(ctx, token, x, y, bead, colours, { rim = colours.ground, dress = "" } = {}) {
  ctx.beginPath();
  ctx.arc(x, y, bead, 0, TURN);
  ctx.fillStyle = colours.token[token % colours.token.length];
  ctx.fill();
  ctx.lineWidth = Math.min(2, bead * 0.22);
  ctx.strokeStyle = rim;
  ctx.stroke();
  if (bead < SMALLEST_LETTERED) return;
  if (dress) return drawSign(ctx, dress, x, y, bead, colours);
  const text = letter(token);
  ctx.font = `700 ${Math.round(bead * (text.length > 1 ? 0.85 : 1.15))}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = colours.ground;
  ctx.fillText(text, x, y + bead * 0.06);
}

/** Boxes, in parts of a bead: what a token could be as well. */
const SIGNS = {
  buses: [[-0.62, -0.42, 1.24, 0.68], [-0.46, 0.2, 0.26, 0.26], [0.2, 0.2, 0.26, 0.26]],
  trains: [[-0.36, -0.6, 0.72, 0.86], [-0.46, 0.34, 0.16, 0.26], [0.3, 0.34, 0.16, 0.26], [-0.3, 0.34, 0.6, 0.1]],
  restarts: [[-0.5, -0.52, 1, 0.28], [-0.5, -0.14, 1, 0.28], [-0.5, 0.24, 1, 0.28]],
};

function drawSign(ctx, dress, x, y, bead, colours) {
  ctx.fillStyle = colours.ground;
  for (const [left, top, width, height] of SIGNS[dress] ?? []) ctx.fillRect(x + left * bead, y + top * bead, width * bead, height * bead);
}

function drawBeads(ctx, where, moment, colours, lifted, dress) {
  const { m, slot } = moment;
  const name = namesOf(moment);
  // Lower beads over higher ones, so that the next to leave is whole.
  const order = Array.from({ length: m }, (_, k) => k).sort((a, b) => slot[b] - slot[a]);
  const step = pileStep(where, moment);
  for (const k of order) {
    const away = lifted && lifted.token === k;
    const angle = where.angle(away ? lifted.hop : moment.hop[k]);
    const radius = where.radius + (away ? where.bead * 1.2 : slot[k] * step);
    drawBead(ctx, name(k), where.x + radius * Math.cos(angle), where.y + radius * Math.sin(angle), where.bead * (away ? 1.2 : 1), colours,
      { rim: moment.violated[k] ? colours.bad : colours.ground, dress });
  }
  if (step < where.bead * 1.2) labelPiles(ctx, where, moment, colours);
}

/** Piles too high to count get their number. */
function labelPiles(ctx, where, moment, colours) {
  const { m, slot, hop } = moment;
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = colours.ink;
  for (let k = 0; k < m; k += 1) {
    const here = Math.round(slot[k]) + 1;
    if (here < 6) continue;
    let higher = false;
    for (let other = 0; other < m; other += 1) if (hop[other] === hop[k] && slot[other] > slot[k]) higher = true;
    if (higher) continue;
    const radius = where.radius - where.halo / 2 - (where.arcs ? 16 : where.bar + 4);
    const angle = where.angle(hop[k]);
    ctx.fillText(`${here}×`, where.x + radius * Math.cos(angle), where.y + radius * Math.sin(angle));
  }
}

/**
 * Tokens per stretch of the circle as a band outwards, red where two are too close.
 * A ring that is evenly filled has a band of even height.
 */
function drawDensity(ctx, where, moment, colours) {
  const { x, y, radius, margin } = where;
  const { m, n, hop, violated } = moment;
  const bands = Math.max(48, Math.min(BANDS / 2, Math.round(m / 4)));
  const tokens = new Float32Array(bands);
  const close = new Uint8Array(bands);
  for (let k = 0; k < m; k += 1) {
    const band = Math.floor((hop[k] / n) * bands) % bands;
    tokens[band] += 1;
    if (violated[k]) close[band] = 1;
  }
  const expected = m / bands;
  const base = radius + 7;
  for (const red of [0, 1]) {
    ctx.fillStyle = red ? colours.bad : colours.accent;
    ctx.globalAlpha = 0.55;
    ctx.beginPath();
    for (let band = 0; band < bands; band += 1) {
      if (tokens[band] === 0 || close[band] !== red) continue;
      // Twice the even share is a good half of the room; piles approach all of it.
      const height = (margin - 12) * (1 - Math.exp((-0.5 * tokens[band]) / expected));
      const from = where.angle((band / bands) * n);
      const to = where.angle(((band + 1) / bands) * n);
      ctx.moveTo(x + base * Math.cos(from), y + base * Math.sin(from));
      ctx.arc(x, y, base + height, from, to);
      ctx.arc(x, y, base, to, from, true);
    }
    ctx.fill();
  }
  ctx.globalAlpha = 1;
  if (m > 4000) return;
  for (let colour = 0; colour < colours.token.length; colour += 1) {
    ctx.fillStyle = colours.token[colour];
    ctx.beginPath();
    for (let k = colour; k < m; k += colours.token.length) {
      const angle = where.angle(hop[k]);
      const px = x + radius * Math.cos(angle);
      const py = y + radius * Math.sin(angle);
      ctx.moveTo(px + where.bead, py);
      ctx.arc(px, py, where.bead, 0, TURN);
    }
    ctx.fill();
  }
}

function drawSelection(ctx, where, [first, last], colours) {
  const span = ((last - first + where.n) % where.n) + 1;
  ctx.strokeStyle = colours.accent;
  ctx.globalAlpha = 0.2;
  ctx.lineWidth = where.margin * 0.9;
  ctx.lineCap = "butt";
  ctx.beginPath();
  const radius = where.radius + where.margin * 0.45;
  ctx.arc(where.x, where.y, radius, where.angle(first - 0.5), where.angle(first - 0.5 + span) - (span === where.n ? 1e-3 : 0));
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function drawFailing(ctx, where, process, colours) {
  const angle = where.angle(process);
  const radius = where.radius - (where.arcs ? where.arc + 5 : where.halo / 2 + 4);
  const size = 6;
  ctx.fillStyle = colours.bad;
  ctx.beginPath();
  const tip = [where.x + radius * Math.cos(angle), where.y + radius * Math.sin(angle)];
  const back = radius - size * 1.7;
  const side = size / Math.max(20, back);
  ctx.moveTo(...tip);
  ctx.lineTo(where.x + back * Math.cos(angle - side), where.y + back * Math.sin(angle - side));
  ctx.lineTo(where.x + back * Math.cos(angle + side), where.y + back * Math.sin(angle + side));
  ctx.closePath();
  ctx.fill();
}

function drawCursor(ctx, where, process, colours) {
  const angle = where.angle(process);
  const size = Math.max(6, where.arcs ? where.arc + 4 : where.bead + 4);
  ctx.strokeStyle = colours.accent;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.arc(where.x + where.radius * Math.cos(angle), where.y + where.radius * Math.sin(angle), size, 0, TURN);
  ctx.stroke();
}
