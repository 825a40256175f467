// The program beside the ring: its lines, those that the process in question executes in
// the coming round lit. Whatever points at a process (the ring, space and time, keys) tells
// `focus`; pointing at a line marks all processes that execute it.

import * as api from "./api.js";
import { count, h, plural, setText } from "./dom.js";

const KEPT = 64;

export class Listing {
  /**
   * @param {{title: HTMLElement, lines: HTMLElement, note: HTMLElement}} parts
   * @param {import("./player.js").Player} player
   * @param {(marks: {focus: number | null, lit: number[]}) => void} mark
   */
  constructor(parts, player, mark) {
    this.parts = parts;
    this.player = player;
    this.mark = mark;
    /** Which process, and which round if not the one on show. */
    this.process = 0;
    /** @type {number | null} */ this.round = null;
    this.pointed = false;
    /** @type {number | null} */ this.line = null;
    /** @type {Map<string, any>} */ this.known = new Map();
    this.asking = false;
    this.shown = "";
    player.on("run", () => {
      this.process = Math.min(this.process, player.n - 1);
      this.show();
    });
    player.on("moment", () => this.show());
  }

  /** Points at a process; null: no longer. @param {number | null} process @param {number | null} [round] */
  focus(process, round = null) {
    this.pointed = process !== null;
    this.process = process ?? this.process;
    this.round = round;
    this.line = null;
    this.show();
    this.remark();
  }

  get at() {
    return this.round ?? this.player.round;
  }

  key(round) {
    const { run } = this.player;
    return `${run.id} ${run.version} ${round}`;
  }

  remark() {
    const answer = this.known.get(this.key(this.at));
    const lit = [];
    if (answer && this.line !== null) {
      const program = answer.program_of[this.process];
      answer.executed.forEach((lines, process) => {
        if (answer.program_of[process] === program && (lines >> this.line) & 1) lit.push(process);
      });
      setText(this.parts.note, `executed by ${plural(lit.length, "process")} in round ${count(this.at + 1)}`);
    }
    this.mark({ focus: this.pointed ? this.process : null, lit });
    this.player.wake();
  }

  show() {
    const { player, parts } = this;
    if (!player.run) return;
    // A ring too large for counters is too large for lines, too.
    const large = player.run.frame.counters === null;
    parts.lines.parentElement.hidden = large;
    if (large) return;
    const answer = this.known.get(this.key(this.at));
    if (!answer) {
      this.ask();
      return;
    }
    const program = answer.programs[answer.program_of[this.process]];
    const executed = answer.executed[this.process];
    const what = JSON.stringify([program.name, executed, this.process, this.at]);
    if (what === this.shown) return;
    this.shown = what;
    setText(parts.title, `Process ${this.process}: ${program.name}`);
    if (parts.lines.dataset.program !== program.name) {
      parts.lines.dataset.program = program.name;
      parts.lines.replaceChildren(...program.lines.map((text, index) => h("li", {
        onpointerenter: () => this.point(index), onpointerleave: () => this.point(null),
      }, h("code", {}, text))));
    }
    [...parts.lines.children].forEach((item, index) => {
      const lit = Boolean((executed >> index) & 1);
      item.classList.toggle("lit", lit);
      if (lit) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    });
    const constant = program.name === "delay" ? `C = d − 1 = ${player.d - 1}; ` : "";
    const order = program.name === "moving-block" ? ", in any order" : "";
    if (this.line === null) setText(parts.note, `${constant}lit: round ${count(this.at + 1)}${order}`);
    else this.remark();
  }

  point(line) {
    this.line = line;
    this.shown = "";
    this.show();
    this.remark();
  }

  async ask() {
    const { player } = this;
    const { run } = player;
    const round = this.at;
    if (this.asking || round > run.seekable) return;
    this.asking = true;
    try {
      const answer = await api.lines(run.id, round);
      if (this.known.size >= KEPT) this.known.clear();
      this.known.set(`${run.id} ${run.version} ${round}`, answer);
    } catch {
      // Whoever shows the ring tells what is wrong.
      await new Promise((next) => setTimeout(next, 2000));
    }
    setTimeout(() => {
      this.asking = false;
      if (player.run && this.key(this.at) !== this.shown) this.show();
    }, player.playing ? 60 : 0);
  }
}
