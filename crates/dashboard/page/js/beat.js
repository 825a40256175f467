// Try to beat it: every strike by hand is a dot, as far to the right as it took rounds to
// recover, before the wall that is proved.

import { count, h, plural, s, setText } from "./dom.js";

const HEIGHT = 64;
const DOT = 3.5;

export class Beat {
  /**
   * @param {{section: HTMLElement, claim: HTMLElement, picture: HTMLElement, best: HTMLElement, link: HTMLButtonElement}} parts
   * @param {import("./player.js").Player} player
   * @param {(link: string, said: string) => void} copy
   */
  constructor(parts, player, copy) {
    this.parts = parts;
    this.player = player;
    this.of = "";
    /** @type {{rounds: number, link: string}[]} */
    this.strikes = [];
    player.on("run", () => this.note());
    new ResizeObserver(() => this.draw()).observe(parts.picture);
    parts.link.addEventListener("click", () => {
      const slowest = this.slowest();
      if (slowest) copy(new URL(slowest.link, location.href).href, `Link copied: ${plural(slowest.rounds, "round")} of at most ${count(this.wall)}.`);
    });
  }

  /** What follows from the last fault, or the start. */
  get segment() {
    const { segments } = this.player;
    return segments[segments.length - 1];
  }

  /** Which ring it is: another ring has a wall of its own. */
  note() {
    const { run } = this.player;
    const { segment } = this;
    const known = segment.feasible && segment.legitimate_at !== null && segment.worst_legitimate_at !== null && segment.worst_legitimate_at !== undefined;
    this.parts.section.hidden = !known;
    if (!known) return;
    this.wall = segment.worst_legitimate_at - segment.from;
    const of = JSON.stringify([run.processes, run.tokens, run.separation, run.program, segment.delays]);
    if (of !== this.of) this.strikes = [];
    this.of = of;
    this.show();
  }

  /** A strike by hand, and the link to it. */
  strike(link) {
    const { segment } = this;
    if (this.parts.section.hidden) return;
    this.strikes.push({ rounds: segment.legitimate_at - segment.from, link });
    this.show();
  }

  slowest() {
    return this.strikes.reduce((best, one) => (best && best.rounds >= one.rounds ? best : one), /** @type {any} */ (null));
  }

  show() {
    const { claim, best, link } = this.parts;
    claim.replaceChildren(h("b", {}, "Try to beat it."), ` Theorem: from any state of this ring, legitimate within ${plural(this.wall, "round")}.`);
    const slowest = this.slowest();
    link.hidden = !slowest?.rounds;
    this.draw();
    if (!slowest) return setText(best, "No strike yet: scramble it, pile it up, or drag a token.");
    const rank = slowest.rounds >= this.wall ? "the wall itself; there is no more" : `${count(slowest.rounds)} of ${count(this.wall)}`;
    setText(best, `${plural(this.strikes.length, "strike")} so far; your slowest: ${rank}.`);
  }

  draw() {
    const { picture } = this.parts;
    const width = picture.clientWidth;
    if (!this.wall || width < 60) return;
    const right = width - 16;
    const x = (rounds) => 8 + (rounds / this.wall) * (right - 8);
    const piles = new Map();
    const dots = this.strikes.map(({ rounds }) => {
      const slot = Math.round(x(rounds) / (2 * DOT));
      const below = piles.get(slot) ?? 0;
      piles.set(slot, below + 1);
      const y = HEIGHT - 18 - DOT - Math.min(below, 5) * 2 * DOT;
      return s("circle", { cx: x(rounds).toFixed(1), cy: y, r: DOT, class: rounds >= this.wall ? "dot most" : "dot" });
    });
    picture.replaceChildren(s("svg", { width, height: HEIGHT, role: "img", "aria-label": `${plural(this.strikes.length, "dot")} at the rounds that recovery took, all left of the wall at ${this.wall}` },
      s("line", { x1: 8, x2: width, y1: HEIGHT - 18, y2: HEIGHT - 18, class: "ground" }),
      s("line", { x1: right, x2: right, y1: 2, y2: HEIGHT - 14, class: "wall" }),
      s("text", { x: right - 5, y: 12, "text-anchor": "end" }, `proved: never beyond ${count(this.wall)}`),
      s("text", { x: 8, y: HEIGHT - 4 }, "0"),
      s("text", { x: width, y: HEIGHT - 4, "text-anchor": "end" }, count(this.wall)),
      ...dots));
  }
}
