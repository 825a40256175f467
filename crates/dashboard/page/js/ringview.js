// The ring on its canvas: what stands still is drawn once, what moves every frame.

import { begin, sharp } from "./canvas.js";
import { onPalette, palette } from "./palette.js";
import { drawMoving, drawStill, layout } from "./ring.js";

export class RingView {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./player.js").Player} player
   */
  constructor(canvas, player) {
    this.canvas = canvas;
    this.player = player;
    /** @type {import("./film.js").Moment | null} */ this.moment = null;
    /** @type {any} */ this.where = null;
    /** @type {{selection: [number, number] | null, cursor: number | null, lifted: any, focus?: number | null, lit?: number[], dress?: string}} */
    this.marks = { selection: null, cursor: null, lifted: null };
    this.still = document.createElement("canvas");
    this.stillOf = "";
    this.box = sharp(canvas, () => this.draw());
    player.on("moment", () => this.draw());
    onPalette(() => {
      this.stillOf = "";
      this.draw();
    });
  }

  draw() {
    const { player, box } = this;
    if (!player.run || !box.visible) return;
    const moment = player.moment();
    // While a film is on its way the last picture stays, but pale.
    this.canvas.parentElement?.classList.toggle("waiting", !moment);
    if (!moment) return;
    this.moment = moment;
    const { n } = moment;
    if (!this.where || this.where.width !== box.width || this.where.height !== box.height || this.where.n !== n || this.where.m !== moment.m) {
      this.where = layout(box.width, box.height, n, moment.m);
    }
    const context = begin(box);
    this.drawStill(moment);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still, 0, 0);
    context.setTransform(box.scale, 0, 0, box.scale, 0, 0);
    drawMoving(context, this.where, moment, palette(), { ...this.marks, failing: this.failing() });
  }

  /** The process to which the verdict points, while it is of the round on show. */
  failing() {
    const { frame, round } = this.player;
    return frame && !frame.legitimate && Math.abs(frame.round - round) <= 1 ? frame.process : null;
  }

  drawStill(moment) {
    const { box } = this;
    const segment = this.player.segmentAt();
    const of = [box.width, box.height, box.scale, this.player.run.id, this.player.run.version, segment].join();
    if (of === this.stillOf) return;
    this.stillOf = of;
    this.still.width = this.canvas.width;
    this.still.height = this.canvas.height;
    const context = this.still.getContext("2d");
    context.setTransform(box.scale, 0, 0, box.scale, 0, 0);
    drawStill(context, this.where, moment.delays, palette());
  }
}
