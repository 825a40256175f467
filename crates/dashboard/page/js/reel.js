// Plays a list of frames that the server worked out in lock-step: the open chain
// and the ring on phase clocks, which have no forecast.

import { begin, sharp } from "./canvas.js";
import { count, h, reducedMotion, setText } from "./dom.js";
import { onPalette, palette } from "./palette.js";
import { smallTransport } from "./scene.js";
import { drawBead, layout } from "./ring.js";

const TURN = 2 * Math.PI;

/** Frames on a canvas; subclasses say how one is drawn. */
class Reel {
  constructor(label, speed) {
    /** @type {any} */ this.answer = null;
    /** @type {any[]} */ this.frames = [];
    this.time = 0;
    this.playing = false;
    this.speed = speed;
    this.last = 0;
    this.ticking = false;
    /** Is told which frame is on show. @type {(frame: number) => void} */ this.seen = () => {};
    this.canvas = h("canvas", { role: "img", "aria-label": label });
    this.line = h("p", { class: "verdict-line", role: "status" });
    this.transport = smallTransport({ toggle: () => this.toggle(), step: () => this.step(), restart: () => this.restart() });
    this.element = h("div", { class: "scene" }, h("div", { class: this.className() }, this.canvas), this.transport.element, this.line);
    this.box = sharp(this.canvas, () => this.draw());
    onPalette(() => this.draw());
  }

  className() {
    return "scene-ring";
  }

  /** Draws what is between two frames. @param {any[]} _ */
  picture(..._) {}

  /** The time of a frame, in words. @param {any} frame */
  clock(frame) {
    return String(frame.round);
  }

  open(answer, { play = false } = {}) {
    this.answer = answer;
    this.frames = answer.frames;
    this.time = 0;
    this.playing = play;
    this.last = 0;
    this.draw();
    this.wake();
  }

  toggle() {
    this.playing = !this.playing;
    if (this.time >= this.frames.length - 1) this.time = 0;
    this.last = 0;
    this.draw();
    this.wake();
  }

  step() {
    this.playing = false;
    this.time = Math.min(this.frames.length - 1, Math.floor(this.time) + 1);
    this.draw();
  }

  restart() {
    this.time = 0;
    this.draw();
  }

  leave() {
    this.playing = false;
  }

  wake() {
    if (this.ticking || !this.playing) return;
    this.ticking = true;
    requestAnimationFrame((now) => {
      this.ticking = false;
      if (this.last) this.time += (Math.min(100, now - this.last) / 1000) * this.speed;
      this.last = now;
      if (this.time >= this.frames.length - 1) {
        this.time = this.frames.length - 1;
        this.playing = false;
      }
      this.draw();
      this.wake();
    });
  }

  draw() {
    if (!this.box.visible || this.frames.length === 0) return;
    const index = Math.min(this.frames.length - 1, Math.floor(this.time));
    const phase = reducedMotion.matches ? 0 : this.time - index;
    const now = this.frames[index];
    const next = this.frames[Math.min(index + 1, this.frames.length - 1)];
    this.picture(begin(this.box), now, next, phase, palette());
    this.transport.show(this.playing, this.clock(now));
    this.seen(index);
  }
}

/** The open chain of figure 2. */
export class ChainReel extends Reel {
  constructor() {
    super("An open chain of processes", 4);
  }

  className() {
    return "scene-chain";
  }

  clock(frame) {
    return `round ${count(frame.round)}`;
  }

  picture(ctx, now, next, phase, colours) {
    const { width, height } = this.box;
    const { processes, separation } = this.answer;
    const step = (width - 70) / processes;
    const x = (process) => 50 + process * step;
    const y = height * 0.66;
    const bead = Math.max(4, Math.min(12, step * 0.34));
    ctx.strokeStyle = colours.line;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x(0), y);
    ctx.lineTo(width - 8, y);
    ctx.stroke();
    for (let process = 0; process < processes; process += 1) {
      ctx.beginPath();
      ctx.arc(x(process), y, process === 0 ? bead * 1.45 : Math.min(4, bead * 0.4), 0, TURN);
      ctx.fillStyle = process === 0 ? colours.ground : colours.ground;
      ctx.fill();
      ctx.strokeStyle = process === 0 ? colours.line : colours.relay;
      ctx.stroke();
    }
    ctx.fillStyle = colours.muted;
    ctx.font = "12px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    ctx.fillText("delay", x(0), y + bead * 1.45 + 6);
    ctx.fillText("relays", x(Math.floor(processes / 2)), y + bead * 1.45 + 6);
    const left = Math.max(0, now.counter - (now.counter > 0 ? phase : 0));
    if (left > 0 && separation > 1) {
      ctx.strokeStyle = colours.counter;
      ctx.lineWidth = 3;
      ctx.lineCap = "round";
      ctx.beginPath();
      ctx.arc(x(0), y, bead * 1.45, -Math.PI / 2, -Math.PI / 2 + TURN * Math.min(0.999, left / (separation - 1)));
      ctx.stroke();
    }
    const slots = piles(now.at);
    const later = new Map(next.at.map((entry) => [entry[0], entry]));
    const laterSlots = piles(next.at);
    for (const [token, process] of now.at) {
      const then = later.get(token);
      const to = then ? then[1] : processes + 0.6;
      const from = process;
      const slot = slots.get(token) + ((laterSlots.get(token) ?? 0) - slots.get(token)) * phase;
      const at = from + (to - from) * phase;
      const px = x(at);
      ctx.globalAlpha = then ? 1 : 1 - phase;
      // The halo is the distance that is wanted.
      if (at >= 0.9) {
        ctx.globalAlpha *= 0.2;
        ctx.fillStyle = colours.token[token % colours.token.length];
        ctx.fillRect(px - (separation * step) / 2, y - bead * 1.2, separation * step, bead * 2.4);
        ctx.globalAlpha = then ? 1 : 1 - phase;
      }
      drawBead(ctx, token, px, y - slot * bead * 1.9, bead, colours);
      ctx.globalAlpha = 1;
    }
    const close = now.closest !== null && now.closest < separation;
    this.line.className = `verdict-line ${close ? "bad" : "good"}`;
    setText(this.line, now.closest === null ? `${now.arrived} tokens have come in, ${now.left} have left.`
      : `From the second process on, the closest two are ${now.closest} apart; wanted ${separation}.`);
  }
}

/** Heights in the pile of each process: who leaves first is lowest. */
function piles(entries) {
  const held = new Map();
  const slots = new Map();
  for (const [token, process] of [...entries].sort((a, b) => a[0] - b[0])) {
    slots.set(token, held.get(process) ?? 0);
    held.set(process, (held.get(process) ?? 0) + 1);
  }
  return slots;
}

/** The ring on phase clocks: nobody is in step, and still nobody is too close. */
export class AsynchronyReel extends Reel {
  constructor() {
    super("A ring whose processes have clocks of their own", 6);
  }

  clock(frame) {
    return `step ${count(frame.step)}`;
  }

  picture(ctx, now, next, phase, colours) {
    const n = now.ticks.length;
    const where = layout(this.box.width, this.box.height, n, now.at.length);
    const { x, y, radius } = where;
    const slowest = Math.min(...now.ticks);
    const spread = Math.max(4, Math.max(...now.ticks) - slowest);
    // How far each clock is ahead of the slowest one.
    ctx.strokeStyle = colours.counter;
    ctx.lineWidth = Math.max(2, Math.min(9, where.spacing * 0.45));
    ctx.lineCap = "butt";
    ctx.beginPath();
    now.ticks.forEach((tick, process) => {
      const ahead = (tick - slowest + 0.25) / spread;
      const angle = where.angle(process);
      const outer = radius - where.bead - 8;
      const inner = outer - radius * 0.32 * ahead;
      ctx.moveTo(x + outer * Math.cos(angle), y + outer * Math.sin(angle));
      ctx.lineTo(x + inner * Math.cos(angle), y + inner * Math.sin(angle));
    });
    ctx.stroke();
    drawTokens(ctx, where, now, next, phase, colours, this.answer.promised);
    drawNumber(ctx, where, now.closest, "closest now", now.closest < this.answer.promised ? colours.bad : colours.ink, colours);
    const fine = this.answer.closest >= this.answer.promised;
    this.line.className = `verdict-line ${fine ? "good" : "bad"}`;
    setText(this.line, `Set to ${this.answer.separation} apart, one round every ${this.answer.pace === 1 ? "tick" : `${this.answer.pace} ticks`}. Never closer than ${this.answer.closest} in true time; proved: never closer than ${this.answer.promised}.`);
  }
}

/** The ring with its processes, and tokens between two moments, each with the room it wants. */
function drawTokens(ctx, where, now, next, phase, colours, room) {
  const { x, y, radius, n } = where;
  ctx.strokeStyle = colours.line;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, TURN);
  ctx.stroke();
  ctx.fillStyle = colours.delay;
  for (let process = 0; process < n; process += 1) {
    const angle = where.angle(process);
    ctx.beginPath();
    ctx.arc(x + radius * Math.cos(angle), y + radius * Math.sin(angle), 2, 0, TURN);
    ctx.fill();
  }
  now.at.forEach((process, token) => {
    let by = next.at[token] - process;
    if (by < -n / 2) by += n;
    const hop = process + Math.max(0, by) * phase;
    const half = room / 2;
    ctx.globalAlpha = 0.22;
    ctx.strokeStyle = colours.token[token % colours.token.length];
    ctx.lineWidth = where.halo;
    ctx.beginPath();
    ctx.arc(x, y, radius, where.angle(hop - half), where.angle(hop + half));
    ctx.stroke();
    ctx.globalAlpha = 1;
    const angle = where.angle(hop);
    drawBead(ctx, token, x + radius * Math.cos(angle), y + radius * Math.sin(angle), where.bead, colours);
  });
}

/** The smallest distance, in the middle. */
function drawNumber(ctx, where, number, about, colour, colours) {
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = colour;
  ctx.font = "300 44px system-ui, sans-serif";
  ctx.fillText(String(number), where.x, where.y - 8);
  ctx.font = "12.5px system-ui, sans-serif";
  ctx.fillStyle = colours.muted;
  ctx.fillText(about, where.x, where.y + 24);
}
