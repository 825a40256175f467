// Dijkstra's token rings beside a ring of delays, in the same rounds.

import { begin, sharp } from "./canvas.js";
import { count, h, plural, setText } from "./dom.js";
import { onPalette, palette } from "./palette.js";
import { drawMoving, drawStill, layout } from "./ring.js";

export class TokenRingScene {
  /** @param {import("./player.js").Player} player  of the ring beside it */
  constructor(player) {
    this.player = player;
    /** @type {any} */ this.rings = null;
    this.canvas = h("canvas", { role: "img", "aria-label": "Dijkstra's token rings" });
    this.closest = h("span", {});
    this.of = h("small", {});
    this.word = h("div", { class: "centre-word" });
    this.centre = h("div", { class: "centre" }, h("div", { class: "centre-number" }, this.closest, this.of), this.word);
    this.element = h("div", { class: "scene-ring" }, this.canvas, this.centre);
    this.box = sharp(this.canvas, () => this.draw());
    player.on("moment", () => this.draw());
    onPalette(() => this.draw());
  }

  /** Tokens in the round on show, the frontmost is A, as beside it; the last frame goes on and on. */
  moment() {
    const { rings: { frames, processes: n }, player: { round, phase, d } } = this;
    const last = frames.length - 1;
    const frame = frames[Math.min(round, last)];
    // A fault does not glide.
    const on = Math.max(0, round - last) + (frames[round + 1]?.at.length > frame.at.length ? 0 : phase);
    const held = new Map();
    const slot = frame.at.map(([, process]) => {
      held.set(process, (held.get(process) ?? -1) + 1);
      return held.get(process);
    });
    const places = [...held.keys()].sort((a, b) => a - b);
    const gap = (index) => (places[(index + 1) % places.length] - places[index] + n) % n || n;
    const close = new Set(places.flatMap((process, index) => (gap(index) < d ? [process, places[(index + 1) % places.length]] : [])));
    return {
      n, d, m: frame.at.length, hop: frame.at.map(([, process]) => process + on), slot, names: frame.at.map(([ring]) => this.rings.tokens - 1 - ring),
      violated: frame.at.map(([, process]) => Number(close.has(process) || frame.at.filter(([, other]) => other === process).length > 1)), frame,
    };
  }

  draw() {
    const { box, rings, player } = this;
    if (!rings || !player.run || !box.visible) return;
    const colours = palette();
    const moment = this.moment();
    const where = layout(box.width, box.height, moment.n, rings.tokens);
    const context = begin(box);
    drawStill(context, where, new Uint8Array(moment.n), colours);
    drawMoving(context, where, /** @type {any} */ (moment), colours);
    const apart = moment.frame.closest ?? 0;
    setText(this.closest, count(apart));
    setText(this.of, `of ${plural(player.d, "hop")}`);
    setText(this.word, plural(moment.m, "token"));
    this.centre.classList.toggle("bad", apart < player.d);
  }
}
