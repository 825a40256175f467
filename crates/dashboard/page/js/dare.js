// The first screen: a healthy ring, and a dare to break it. Panels unfold as it is struck and
// recovers; whoever leaves finds the ring as it is.

import { h, plural, reducedMotion, setText } from "./dom.js";
import { ROOT } from "./place.js";

const SEEN = "headway-story";
/** Of the hand that shows how, in seconds. */
const CYCLE = 3.2;

/** What else tokens that keep apart could be; the ring shows them as such. */
const LIKENESSES = {
  buses: "Buses bunch: one falls behind, finds more people waiting, and the next catches up. Here every stop holds a bus back a little, and the gaps come back.",
  trains: "Trains keep a block of track free behind them. Here d processes are the block, and no signal box is needed.",
  restarts: "Servers that share data must not restart together. A token is the permission to restart; neighbours on the ring never have one at the same time.",
};

/** Whether it comes by itself: to who is here for the first time, at the page itself. */
export function isNew(location) {
  try {
    return location.pathname.replace(/index\.html$/, "") === ROOT && !location.search && !location.hash && !localStorage.getItem(SEEN);
  } catch {
    return false;
  }
}

export class Dare {
  /**
   * @param {{box: HTMLElement, ghost: HTMLElement}} parts
   * @param {import("./ringview.js").RingView} ring
   */
  constructor({ box, ghost }, ring) {
    this.box = box;
    this.ghost = ghost;
    this.ring = ring;
    /** 0: not on show; 1: nobody has struck; 2: struck; 3: it has recovered. */
    this.stage = 0;
    this.words = h("p", { class: "dare-words", "aria-live": "polite" });
    this.count = h("p", { class: "dare-count" });
    this.likeness = h("p", { class: "note" });
    this.choices = h("div", { class: "choices wrap", role: "group", "aria-label": "It is like" }, ...Object.keys(LIKENESSES).map((name) => h("button", {
      type: "button", "aria-pressed": "false", onclick: () => this.dress(name),
    }, name)));
    box.append(this.words, this.count, this.likeness, h("div", { class: "dare-line" }, this.choices, h("button", { type: "button", onclick: () => this.end() }, "Show everything")));
    ring.player.on("moment", () => this.stage && this.look());
  }

  /** The ring on show is healthy, and plays. */
  begin() {
    try {
      localStorage.setItem(SEEN, "told");
    } catch {
      // Told again next time.
    }
    this.unfold(1);
    if (!reducedMotion.matches) this.ring.player.play();
    this.look();
  }

  /** Everything, at any moment: a ring that is not well goes on until it is. */
  end() {
    if (!this.stage) return;
    const { player, canvas } = this.ring;
    if (this.box.contains(document.activeElement)) canvas.focus({ preventScroll: true });
    this.unfold(0);
    const { legitimate_at: well } = this.segment;
    if (well === null || player.round >= well) return;
    if (reducedMotion.matches) player.seek(well);
    else player.play();
  }

  get segment() {
    const { segments } = this.ring.player;
    return segments[segments.length - 1];
  }

  unfold(stage) {
    this.stage = stage;
    this.dress(null);
    this.box.hidden = stage === 0;
    this.ghost.hidden = stage !== 1;
    if (stage) document.body.dataset.dare = String(stage);
    else delete document.body.dataset.dare;
    this.choices.hidden = stage !== 3;
  }

  /** Draws tokens as what they are like. */
  dress(name) {
    for (const button of this.choices.children) button.setAttribute("aria-pressed", String(button.textContent === name));
    setText(this.likeness, LIKENESSES[name] ?? "");
    this.ring.marks.dress = name ?? undefined;
    this.ring.player.wake();
  }

  /** Says what has become of it; all numbers are those of the run on show. */
  look() {
    const { player } = this.ring;
    const { segment } = this;
    // Somebody has left no delay to repair it: the verdict says so.
    if (segment.legitimate_at === null) return this.end();
    const most = plural(segment.worst_legitimate_at - segment.from, "round");
    const took = segment.legitimate_at - segment.from;
    const struck = player.segments.length > 1;
    const well = player.round >= segment.legitimate_at;
    if (this.stage < (struck ? (well ? 3 : 2) : 1)) this.unfold(struck && well ? 3 : 2);
    setText(this.words, !struck ? `You cannot break this for more than ${most}.`
      : !well ? `Broken, for ${most} at most.`
      : took ? `Broken for ${plural(took, "round")}. More than ${most} is impossible: that is proved.`
      : "That did not break it: the tokens still keep apart.");
    setText(this.count, !struck ? `${player.run.tokens} tokens travel round and keep ${player.d} hops apart. Drag one.`
      : well ? "Try again: drag, scramble, pile up. Any state at all." : `Round ${player.round - segment.from}: nobody is in charge, every process only counts.`);
    if (this.stage === 1) this.haunt();
  }

  /** A hand drags the first token out of line, again and again, and nothing comes of it. */
  haunt() {
    const { where, moment } = this.ring;
    if (!where || !moment) return;
    const share = reducedMotion.matches ? 0.5 : (performance.now() / 1000 / CYCLE) % 1;
    const drawn = Math.max(0, Math.min(1, (share - 0.25) * 2));
    const angle = where.angle(moment.hop[0] + drawn * moment.d * 0.6);
    const { style } = this.ghost;
    style.left = `${where.x + where.radius * Math.cos(angle)}px`;
    style.top = `${where.y + where.radius * Math.sin(angle)}px`;
    style.opacity = String(Math.min(1, 5 * share, 5 * (1 - share)));
    style.setProperty("--bead", `${where.bead}px`);
  }
}
