// The bar of time. From the start or the last fault it runs evenly to a little
// beyond the proved worst case; from there on every step to the right is a further
// factor, up to 10^12 rounds and beyond, because any round can be had at once.

import { begin, sharp } from "./canvas.js";
import { count } from "./dom.js";
import { onPalette, palette } from "./palette.js";

/** Share of the bar that is even. */
const EVEN = 0.78;
const FURTHEST = 1e12;

/**
 * Rounds to places on a bar of width 1 and back.
 * @param {number} from  where it begins
 * @param {number} wanted  the last round of its even part
 * @param {number} last  the last round that there is
 */
export function scale(from, wanted, last) {
  const even = Math.min(last, Math.max(from + 1, wanted));
  const span = Math.max(1, even - from);
  const far = Math.min(last, from + Math.max(FURTHEST, 10 * span));
  const share = far > even ? EVEN : 1;
  const logs = Math.log((far - from) / span);
  return {
    from,
    even,
    far,
    share,
    place(round) {
      const passed = Math.max(0, round - from);
      if (passed <= span) return (passed / span) * share;
      return Math.min(1, EVEN + (Math.log(passed / span) / logs) * (1 - EVEN));
    },
    round(place) {
      const inside = Math.max(0, Math.min(1, place));
      if (inside <= share) return Math.round(from + (inside / share) * span);
      const passed = span * Math.exp(((inside - EVEN) / (1 - EVEN)) * logs);
      // Far out nobody means a particular round: two digits are enough.
      const power = 10 ** Math.max(0, Math.floor(Math.log10(passed)) - 1);
      return Math.min(far, from + Math.round(passed / power) * power);
    },
  };
}

export class Timebar {
  /**
   * @param {HTMLElement} element @param {HTMLCanvasElement} canvas
   * @param {import("./player.js").Player} player
   */
  constructor(element, canvas, player) {
    this.element = element;
    this.player = player;
    this.box = sharp(canvas, () => this.draw());
    player.on("moment", () => this.draw());
    player.on("run", () => this.draw());
    onPalette(() => this.draw());
    let held = false;
    const go = (event) => {
      const rect = element.getBoundingClientRect();
      player.seek(this.scale().round((event.clientX - rect.left - 6) / (rect.width - 12)));
    };
    element.addEventListener("pointerdown", (event) => {
      held = true;
      element.setPointerCapture(event.pointerId);
      go(event);
    });
    element.addEventListener("pointermove", (event) => held && go(event));
    element.addEventListener("pointerup", () => (held = false));
    element.addEventListener("pointercancel", () => (held = false));
    element.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const { player } = this;
    if (!player.run || event.ctrlKey || event.metaKey) return;
    const at = this.scale();
    const place = at.place(player.round);
    const to = {
      ArrowRight: () => player.round + 1,
      ArrowLeft: () => player.round - 1,
      ArrowUp: () => player.round + 1,
      ArrowDown: () => player.round - 1,
      PageUp: () => Math.max(player.round + 1, at.round(place + 0.05)),
      PageDown: () => Math.min(player.round - 1, at.round(place - 0.05)),
      Home: () => 0,
      End: () => at.far,
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    player.pause();
    player.seek(to());
  }

  /** The rounds that matter for what is on show. */
  marks() {
    const { player } = this;
    const segment = player.segments[player.segmentAt()];
    return {
      since: segment.from,
      legitimate: segment.legitimate_at,
      worst: segment.worst_legitimate_at,
      jam: segment.jam,
    };
  }

  scale() {
    const { since, legitimate, worst, jam } = this.marks();
    const last = Math.max(worst ?? 0, legitimate ?? 0, jam ? jam.from + 2 * jam.period : 0, since + 20);
    // Faults before this one stay visible if they are near.
    const begin = since - 0 <= (last - since) * 2 ? 0 : since;
    return scale(begin, Math.ceil(begin + (last - begin) * 1.2), this.player.run.seekable);
  }

  draw() {
    const { player, box } = this;
    if (!player.run || !box.visible) return;
    const colours = palette();
    const at = this.scale();
    const { since, legitimate, worst, jam } = this.marks();
    const ctx = begin(box);
    const { width } = box;
    const left = 6;
    const right = width - 6;
    const x = (round) => left + at.place(round) * (right - left);
    const y = 34;
    const height = 12;

    ctx.fillStyle = colours.line;
    ctx.fillRect(left, y, right - left, height);
    if (legitimate !== null && legitimate !== undefined) {
      ctx.fillStyle = colours.goodWash;
      ctx.fillRect(x(legitimate), y, right - x(legitimate), height);
      ctx.fillStyle = colours.good;
      ctx.globalAlpha = 0.32;
      ctx.fillRect(x(legitimate), y, right - x(legitimate), height);
      ctx.globalAlpha = 1;
    }
    const bad = legitimate ?? (jam ? at.far : null);
    if (bad !== null) {
      ctx.fillStyle = colours.bad;
      ctx.globalAlpha = 0.28;
      ctx.fillRect(x(since), y, x(bad) - x(since), height);
      ctx.globalAlpha = 1;
      hatch(ctx, x(since), y, x(bad) - x(since), height, colours.bad);
    }
    // What has passed.
    ctx.fillStyle = colours.ink;
    ctx.globalAlpha = 0.22;
    ctx.fillRect(left, y, x(player.round + player.phase) - left, height);
    ctx.globalAlpha = 1;
    if (at.share < 1) this.drawBreak(ctx, left + at.share * (right - left), y, height, colours);

    const flags = [];
    for (const round of new Set(player.segments.slice(1).map((segment) => segment.from))) flags.push({ at: round, text: "fault", colour: colours.bad });
    if (legitimate !== null && legitimate !== undefined && legitimate > since) flags.push({ at: legitimate, text: `legitimate ${count(legitimate)}`, colour: colours.good });
    if (worst !== null && worst !== undefined) flags.push({ at: worst, text: `proved worst ${count(worst)}`, colour: colours.muted });
    this.drawFlags(ctx, flags, x, y, width);
    this.drawTicks(ctx, at, x, y + height, width, colours);

    const now = x(player.round + player.phase);
    ctx.fillStyle = colours.ink;
    ctx.beginPath();
    ctx.arc(now, y + height / 2, 8, 0, 2 * Math.PI);
    ctx.fill();
    ctx.strokeStyle = colours.ground;
    ctx.lineWidth = 2;
    ctx.stroke();

    const { element } = this;
    element.setAttribute("aria-valuenow", String(player.round));
    element.setAttribute("aria-valuemax", String(at.far));
    element.setAttribute("aria-valuetext", `round ${player.round}, ${player.round - since} since the ${player.segmentAt() ? "last fault" : "start"}`);
  }

  /** Flags above the bar; those that would overlap go without a text. */
  drawFlags(ctx, flags, x, y, width) {
    ctx.font = "11.5px system-ui, sans-serif";
    ctx.textBaseline = "alphabetic";
    let taken = [];
    for (const flag of [...flags].reverse()) {
      const at = x(flag.at);
      ctx.fillStyle = flag.colour;
      ctx.fillRect(at - 0.75, y - 6, 1.5, 18);
      const size = ctx.measureText(flag.text).width;
      const start = Math.max(2, Math.min(width - size - 2, at - size / 2));
      const row = [y - 10, y - 22].find((line) => !taken.some((box) => box.line === line && start < box.end + 8 && start + size > box.start - 8));
      if (row === undefined) continue;
      taken.push({ line: row, start, end: start + size });
      ctx.textAlign = "left";
      ctx.fillText(flag.text, start, row);
    }
  }

  /** Rounds below the bar; far from the beginning of the run they count from that of the bar. */
  drawTicks(ctx, at, x, y, width, colours) {
    ctx.fillStyle = colours.muted;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    const plus = at.from > 0 ? "+" : "";
    let taken = [];
    const label = (text, place) => {
      const size = ctx.measureText(text).width;
      const start = Math.max(1, Math.min(width - size - 1, place - size / 2));
      if (taken.some((other) => start < other.end + 8 && start + size > other.start - 8)) return;
      taken.push({ start, end: start + size });
      ctx.fillText(text, start, y + 5);
    };
    label(count(at.from), x(at.from));
    if (at.share < 1) {
      const last = at.far - at.from;
      const powers = ["³", "⁶", "⁹", "¹²"].map((sign, index) => ({ text: `${plus}10${sign}`, rounds: 1000 ** (index + 1) }));
      const ahead = powers.filter(({ rounds }) => at.from + rounds > at.even && rounds <= last).reverse();
      if (!ahead.some(({ rounds }) => rounds === last)) label(count(at.far), x(at.far));
      for (const { text, rounds } of ahead) label(text, x(at.from + rounds));
    }
    const wanted = (at.even - at.from) / Math.max(2, x(at.even) / 90);
    const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= wanted) ?? power;
    for (let rounds = step; at.from + rounds <= at.even; rounds += step) label(plus + count(rounds), x(at.from + rounds));
  }

  drawBreak(ctx, x, y, height, colours) {
    ctx.strokeStyle = colours.ground;
    ctx.lineWidth = 3;
    ctx.beginPath();
    ctx.moveTo(x - 2, y + height + 3);
    ctx.lineTo(x + 3, y - 3);
    ctx.moveTo(x + 4, y + height + 3);
    ctx.lineTo(x + 9, y - 3);
    ctx.stroke();
  }
}

/** Lines across a part of the bar, for those to whom red and green are one. */
function hatch(ctx, left, top, width, height, colour) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let at = left - height; at < left + width; at += 5) {
    ctx.moveTo(at, top + height);
    ctx.lineTo(at + height, top);
  }
  ctx.stroke();
  ctx.restore();
}
