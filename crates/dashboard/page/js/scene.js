// A ring with its number and a few buttons: what lessons and networks show.

import { count, h, measures, plural, reducedMotion, setText } from "./dom.js";
import { Player } from "./player.js";
import { RingView } from "./ringview.js";
import { sentence } from "./verdict.js";

const PLAY = "M7 4.5v15l13-7.5z";
const PAUSE = "M6 5h4v14H6zM14 5h4v14h-4z";

function icon(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return { svg, shape };
}

/**
 * Play, step and begin again, for anything that can.
 * @param {{toggle: () => void, step: () => void, restart: () => void}} to
 */
export function smallTransport(to) {
  const picture = icon(PLAY);
  const round = h("span", { class: "mini-round" });
  const play = h("button", { class: "primary", "aria-label": "Play", onclick: to.toggle }, picture.svg);
  const element = h("div", { class: "mini buttons" },
    h("button", { "aria-label": "Begin again", title: "Begin again", onclick: to.restart }, icon("M6 5h2.5v14H6zM20 5v14L9.5 12z").svg),
    play,
    h("button", { "aria-label": "One round on", title: "One round on", onclick: to.step }, icon("M8 5v14l10-7z").svg),
    round);
  return {
    element,
    show(playing, text) {
      picture.shape.setAttribute("d", playing ? PAUSE : PLAY);
      play.setAttribute("aria-label", playing ? "Pause" : "Play");
      setText(round, text);
    },
  };
}

/** A run on a ring of its own. */
export class RingScene {
  constructor(speed = 6) {
    this.player = new Player();
    this.player.speed = speed;
    this.canvas = h("canvas", { role: "img", "aria-label": "The ring" });
    this.closest = h("span", {});
    this.of = h("small", {});
    this.word = h("div", { class: "centre-word" });
    this.centre = h("div", { class: "centre" }, h("div", { class: "centre-number" }, this.closest, this.of), this.word);
    this.line = h("p", { class: "verdict-line" });
    this.live = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
    const { player } = this;
    this.transport = smallTransport({ toggle: () => player.toggle(), step: () => player.step(1), restart: () => player.seek(0) });
    this.element = h("div", { class: "scene" }, h("div", { class: "scene-ring" }, this.canvas, this.centre), this.transport.element, this.line, this.live);
    this.view = new RingView(this.canvas, player);
    player.on("moment", () => this.show());
    player.on("clock", () => this.show());
    player.on("verdict", () => this.judge());
    player.on("error", (error) => setText(this.line, error.message));
  }

  /** Shows a run of these settings; plays it if asked to. */
  async open(settings, { play = false, speed = this.player.speed } = {}) {
    const { player } = this;
    player.pause();
    player.speed = speed;
    try {
      await player.load(settings);
    } catch (error) {
      setText(this.line, error.message);
      return;
    }
    // Who asked for less motion presses play.
    if (play && !reducedMotion.matches) player.play();
  }

  leave() {
    this.player.pause();
  }

  show() {
    const { player } = this;
    this.transport.show(player.playing, player.run ? `round ${count(player.round)}` : "");
    const film = player.run && player.films.find((one) => one.from <= player.round && player.round < one.to);
    if (!film) return;
    setText(this.closest, film.m > 1 ? count(film.closest) : "–");
    setText(this.of, measures(player.run.program) ? "hops apart" : `of ${plural(player.d, "hop")}`);
  }

  judge() {
    const { player } = this;
    const { frame, run } = player;
    const segment = player.segments[player.segmentAt(frame.round)];
    for (const element of [this.line, this.centre]) {
      element.classList.toggle("good", frame.legitimate);
      element.classList.toggle("bad", !frame.legitimate);
    }
    setText(this.word, frame.legitimate ? "legitimate" : segment.jam ? "jam" : "");
    setText(this.live, frame.legitimate ? "legitimate" : segment.jam ? "a jam" : "not legitimate");
    this.line.replaceChildren(...sentence(frame, segment, run).nodes);
    if (frame.measuring?.length) {
      const [{ process, base }] = frame.measuring;
      this.line.append(` Process ${process} takes the separation to be ${base + 1}.`);
    }
  }
}

