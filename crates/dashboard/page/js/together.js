// Watching together: all pages with the same `run` in their link show and steer one
// run of the server. What is done here is told to the server; what the server
// streams is shown here, the latest frame only.

import * as api from "./api.js";

/** Before the server is asked again, where the browser does not ask by itself. */
const RETRY_MS = 1000;

export class Together {
  /**
   * @param {import("./player.js").Player} player
   * @param {(why?: string) => void} changed  joined, left, without the server, or with it again
   */
  constructor(player, changed) {
    this.player = player;
    this.changed = changed;
    /** @type {EventSource | null} */ this.source = null;
    /** @type {string | null} */ this.id = null;
    /** The server does not answer. */
    this.away = false;
    /** What the class is at; null: nobody presents. @type {any} */
    this.class = null;
    /** The latest that came and is not shown yet. @type {any} */
    this.latest = null;
    this.showing = false;
    this.applying = false;
    this.quietUntil = 0;
    player.on("clock", () => this.tell());
    player.on("sought", () => this.tell(player.round));
  }

  /** Somebody presents, and it is not this page. */
  get following() {
    return Boolean(this.class && !api.keyOf(this.id));
  }

  /** Shares the run on show; ends when the server knows its round. */
  share() {
    this.join(this.player.run.id);
    return this.tell(this.player.round);
  }

  /** From now on only this page steers. */
  async present() {
    if (!this.id) await this.share();
    const { key } = await api.present(this.id);
    api.steer(this.id, key);
    // With the key, by which the server sees whether the presenter is there.
    this.listen();
    this.changed();
  }

  /** Shows a run that somebody shares; throws when there is none. */
  async follow(id) {
    const run = await api.getRun(id);
    this.player.take(run, run.frame.round);
    this.join(id);
    this.teach(run.frame.class);
  }

  join(id) {
    this.id = id;
    this.player.shared = true;
    this.listen();
    this.changed();
  }

  /** Opens the stream, with the key of whoever presents. */
  listen() {
    this.source?.close();
    const source = api.watch(this.id);
    this.source = source;
    source.addEventListener("open", () => this.reached(true));
    source.addEventListener("frame", (event) => this.show(JSON.parse(event.data)));
    source.addEventListener("gone", () => this.leave("The run that was shared has ended."));
    source.addEventListener("error", () => source === this.source && this.lost(source));
  }

  reached(here) {
    if (this.away !== here) return;
    this.away = !here;
    this.changed();
  }

  /** The stream broke off: the browser opens it again, unless the server refuses it. */
  async lost(source) {
    this.reached(false);
    if (source.readyState !== EventSource.CLOSED) return;
    const gone = await api.getRun(this.id).then(() => false, (error) => error.code === "unknown_run");
    if (source !== this.source) return;
    if (gone) this.leave("The run that was shared is no more.");
    else setTimeout(() => source === this.source && this.listen(), RETRY_MS);
  }

  /** Goes on alone, with a run of one's own. */
  async leave(why) {
    if (!this.id) return;
    this.source?.close();
    Object.assign(this, { source: null, id: null, away: false, class: null, latest: null });
    const own = this.player.goOnAlone();
    this.changed(why ?? "On your own again.");
    await own.catch((error) => this.player.emit("error", error));
    this.changed();
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

  /** What the class is at. */
  teach(seen) {
    const next = seen ?? null;
    if (JSON.stringify(next) === JSON.stringify(this.class)) return;
    this.class = next;
    this.changed();
  }

  /** Shows what the others see: the latest, one at a time. */
  async show(frame) {
    if (frame.run !== this.id) return;
    this.teach(frame.class);
    this.latest = frame;
    if (this.showing) return;
    this.showing = true;
    try {
      while (this.latest) {
        // What was done here a moment ago is still on its way there: what came may be older.
        const wait = this.quietUntil - performance.now();
        if (wait > 0) await new Promise((next) => setTimeout(next, wait));
        else await this.apply();
      }
    } finally {
      this.showing = false;
    }
  }

  async apply() {
    const { player, latest: frame } = this;
    this.latest = null;
    let run = null;
    if (frame.version !== player.run.version) {
      run = await api.getRun(frame.run).catch(() => null);
      // The stream says what became of it.
      if (!run || this.id !== frame.run) return;
    }
    this.applying = true;
    try {
      if (run && run.version !== player.run.version) player.take(run, run.frame.round);
      player.follow(frame);
    } finally {
      this.applying = false;
    }
  }
}
