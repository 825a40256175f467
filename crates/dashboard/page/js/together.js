// Watching together: all pages with the same `run` in their link show and steer one
// run of the server. What is done here is told to the server; what the server
// streams is shown here, the latest frame only.

import * as api from "./api.js";

export class Together {
  /**
   * @param {import("./player.js").Player} player
   * @param {(id: string | null, why?: string) => void} changed  joined, or left
   */
  constructor(player, changed) {
    this.player = player;
    this.changed = changed;
    /** @type {EventSource | null} */ this.source = null;
    /** @type {string | null} */ this.id = null;
    this.applying = false;
    /** Somebody presents, and it is not this page. */
    this.following = false;
    /** Told of the class. @type {(seen: any) => void} */
    this.classes = () => {};
    player.on("clock", () => this.tell());
    player.on("sought", () => this.tell(player.round));
    player.on("run", () => {
      if (this.id && player.run.id !== this.id) this.leave();
    });
  }

  /** Shares the run on show; ends when the server knows its round. */
  share() {
    this.join(this.player.run.id);
    return this.tell(this.player.round);
  }

  /** Shows a run that somebody shares; throws when there is none. */
  async follow(id) {
    const run = await api.getRun(id);
    this.player.take(run, run.frame.round);
    this.join(id);
  }

  join(id) {
    this.leave();
    this.id = id;
    this.player.shared = true;
    this.source = api.events(`/api/runs/${id}/events`);
    this.source.addEventListener("frame", (event) => this.apply(JSON.parse(event.data)));
    this.source.addEventListener("gone", () => this.leave("The run that was shared has ended."));
    this.changed(id);
  }

  leave(why) {
    if (!this.id) return;
    this.source?.close();
    this.source = null;
    this.id = null;
    this.player.shared = false;
    this.changed(null, why);
    this.classes(null);
  }

  /** Tells the others what was done here. */
  async tell(round) {
    if (!this.id || this.applying || this.following) return;
    const { id, player } = this;
    this.quietUntil = performance.now() + 400;
    try {
      if (round !== undefined) await api.seek(id, round);
      await api.play(id, player.playing, player.speed);
    } catch {
      // The stream says what became of the run.
    }
  }

  /** Shows what the others see. */
  async apply(frame) {
    const { player } = this;
    if (frame.run !== this.id) return;
    this.classes(frame.class);
    // What was done here a moment ago is still on its way there: what comes now may
    // be older, so the latest of it is shown a little later.
    clearTimeout(this.later);
    const wait = (this.quietUntil ?? 0) - performance.now();
    if (wait > 0) {
      this.later = setTimeout(() => this.apply(frame), wait);
      return;
    }
    this.applying = true;
    try {
      if (frame.version !== player.run.version) player.take(await api.getRun(frame.run), frame.round);
      player.speed = frame.speed;
      if (frame.playing) player.play();
      else player.pause();
      const apart = Math.abs(frame.round - player.round);
      if (apart > (frame.playing ? Math.max(2, 0.4 * frame.speed) : 0)) player.seek(frame.round);
    } catch {
      this.leave("The run that was shared has ended.");
    } finally {
      this.applying = false;
    }
  }
}
