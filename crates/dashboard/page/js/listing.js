// The program beside the ring: its lines, those that the process in question executes in
// the coming round lit. Whatever points at a process (the ring, space and time, keys) tells
// `focus`; pointing at a line marks all processes that execute it.

import * as api from "./api.js";
import { count, h, plural, setText } from "./dom.js";

/** Rounds that are asked for at once, and how many answers are kept. */
const ROUNDS = 240;
const KEPT = 8;
/** Between two questions of a ring that plays fast. */
const ASK_MS = 1000;

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
    /** @type {any[]} */ this.known = [];
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

  /** What is known of the round in question. */
  get answer() {
    const { run } = this.player;
    const { at } = this;
    const found = this.known.find((one) => one.run === run.id && one.version === run.version && one.round <= at && at < one.round + one.executed.length);
    return found && { ...found, executed: found.executed[at - found.round] };
  }

  remark() {
    const { answer } = this;
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
    const { answer } = this;
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
    if (this.asking || this.at > run.seekable) return;
    this.asking = true;
    // Whole stretches, so that the way back is known, too; large rings have shorter ones.
    const { from } = player.segments[player.segmentAt(this.at)];
    const rounds = Math.max(1, Math.min(ROUNDS, Math.floor(20000 / run.processes)));
    const round = this.at - ((this.at - from) % rounds);
    try {
      const answer = await api.lines(run.id, round, rounds);
      this.known = [{ ...answer, run: run.id, version: run.version }, ...this.known].slice(0, KEPT);
    } catch {
      // Whoever shows the ring tells what is wrong.
      await new Promise((next) => setTimeout(next, 2000));
    }
    setTimeout(() => {
      this.asking = false;
      this.show();
    }, player.playing ? ASK_MS : 0);
  }
}
