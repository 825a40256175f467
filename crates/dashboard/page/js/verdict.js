// The verdict in words: legitimate or which clause fails where, D1 to D5, and what
// the forecast says.

import { count, h, measures, plural, setText } from "./dom.js";

/** What each clause of legitimacy asks, in a few words (paper, section 5.3). */
const CLAUSES = {
  "leg:0": "one token at a time, none resting",
  "leg:1": "tokens at least d hops apart",
  "leg:2": "a counter that runs belongs to the token that just went by",
  "leg:3": "a counter has run down before the next token arrives",
  "leg:4": "a delay that just released a token counts from d − 1",
  measured: "the ring size is measured right",
};

/** A wait that deserves a way out. */
const SKIP_FROM_SECONDS = 30;

export class VerdictView {
  /**
   * @param {{line: HTMLElement, live: HTMLElement, list: HTMLElement, centre: HTMLElement, closest: HTMLElement, of: HTMLElement, word: HTMLElement, skip: HTMLButtonElement}} parts
   * @param {import("./player.js").Player} player
   */
  constructor(parts, player) {
    this.parts = parts;
    this.player = player;
    player.on("run", () => this.list());
    player.on("verdict", () => this.draw());
    player.on("moment", () => this.number());
  }

  /** Tells a screen reader what has changed, not what counts down. */
  announce(text) {
    setText(this.parts.live, text);
  }

  list() {
    const { list } = this.parts;
    list.replaceChildren(...(this.player.run.desiderata ?? []).map(({ name, asks }) => h("li", {},
      h("span", { class: "mark", "aria-hidden": "true" }, "·"), h("span", { class: "name" }, name), h("span", {}, asks), h("span", { class: "unseen" }))));
  }

  /** Nobody waits half an hour for the end of a story that is known. */
  offerToSkip(frame, segment) {
    const { skip } = this.parts;
    const at = segment.legitimate_at;
    const left = at === null || at === undefined ? 0 : (at - frame.round) / this.player.speed;
    skip.hidden = left < SKIP_FROM_SECONDS;
    if (skip.hidden) return;
    const minutes = left / 60;
    setText(skip, `Skip to round ${count(at)} (${minutes < 2 ? `${Math.round(left)} s` : `${count(Math.round(minutes))} min`} at this speed)`);
    skip.onclick = () => this.player.seek(at);
  }

  /** The number in the middle follows the picture, not the server. */
  number() {
    const { player, parts } = this;
    if (!player.run) return;
    const film = player.filmAt(player.round);
    parts.line.classList.toggle("waiting", !film);
    if (!film) return;
    setText(parts.closest, film.m > 1 ? count(film.closest) : "–");
    const wanted = measures(player.run.program) ? "hops apart" : `of ${plural(player.d, "hop")}`;
    setText(parts.of, film.m > 1 ? `closest, ${wanted}` : "one token");
  }

  draw() {
    const { player, parts } = this;
    const { frame, run } = player;
    const segment = player.segments[player.segmentAt(frame.round)];
    const good = frame.legitimate;
    const jammed = !good && segment.jam && frame.round >= segment.from;
    for (const element of [parts.line, parts.centre]) {
      element.classList.toggle("good", good);
      element.classList.toggle("bad", !good);
    }
    setText(parts.word, good ? "legitimate" : jammed ? "jam" : frame.clause === "stuck" ? "spaced, but stuck" : frame.closest >= player.d ? "not yet legitimate" : "too close");
    const text = sentence(frame, segment, run);
    if (parts.line.dataset.text !== text.plain) {
      parts.line.dataset.text = text.plain;
      parts.line.replaceChildren(...text.nodes);
    }
    this.offerToSkip(frame, segment);
    this.announce(good ? text.plain : jammed ? "a jam" : frame.clause === "stuck" ? "spaced, but stuck" : "not legitimate");
    [...parts.list.children].forEach((item, index) => {
      const { name: asked, waived } = run.desiderata[index];
      const [name, mark, words] = waived ? ["waived", "–", waived] : standing(asked, frame.holds?.[index], frame, segment);
      item.className = name;
      setText(item.children[0], mark);
      setText(item.children[3], words);
      item.children[3].classList.toggle("unseen", name !== "soon" && !waived);
    });
  }
}

/**
 * How one of D1 to D5 stands: what does not hold yet says when it will, and that the
 * ring recovers from any state is a fact, wherever it is on its way.
 */
export function standing(name, holds, frame, segment) {
  const at = segment.legitimate_at;
  const recovers = at !== null && at !== undefined;
  if (holds || (name === "D5" && recovers)) return ["holds", "✓", "holds"];
  if (recovers && at > frame.round) return ["soon", "…", `in ${plural(at - frame.round, "round")}`];
  if (holds === false) return ["fails", "✗", "does not hold"];
  return ["", "·", "not judged yet"];
}

/** What is to be said, once as nodes and once as plain text to compare. */
export function sentence(frame, segment, run) {
  const nodes = [];
  const since = segment.fault ? "the fault" : "the start";
  const bold = (text) => h("b", {}, text);
  if (frame.legitimate) {
    nodes.push(bold("Legitimate"));
    const at = segment.legitimate_at;
    if (at !== null && at !== undefined) {
      nodes.push(at === segment.from ? `, from ${since} on.` : `, ${plural(at - segment.from, "round")} after ${since}.`);
      if (segment.worst_legitimate_at) nodes.push(` At most ${plural(segment.worst_legitimate_at - segment.from, "round")} from any state (proved).`);
    } else nodes.push(".");
    if (run.why) nodes.push(` ${run.why}`);
  } else if (frame.clause === "stuck") {
    nodes.push(bold("Spaced, but stuck"), `: ${frame.because}`);
  } else if (segment.jam) {
    nodes.push(bold("A jam"), `: ${run.why ?? `more tokens than fit; a process passes on one every ${plural(segment.jam.period, "round")}.`}`);
  } else {
    nodes.push(bold("Not yet"), `: ${frame.because ?? "not legitimate"}`);
    const asks = CLAUSES[frame.clause];
    nodes.push(asks ? `. Wanted: ${asks}.` : ".");
    const at = segment.legitimate_at;
    if (at !== null && at !== undefined && at > frame.round) nodes.push(` Legitimate in ${plural(at - frame.round, "round")}.`);
    else if (at === null && segment.settles) nodes.push(` It will within ${plural(segment.worst_legitimate_at - segment.from, "round")} (proved).`);
    else if (at === null) nodes.push(` It will not become legitimate.${run.why ? ` ${run.why}` : ""}`);
  }
  return { nodes, plain: nodes.map((node) => (typeof node === "string" ? node : node.textContent)).join("") };
}
