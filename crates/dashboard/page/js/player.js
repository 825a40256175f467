// A run and where one stands in it: the clock, the films around the present, the
// verdict on the state that is on show. Views listen.

import * as api from "./api.js";
import { Film, kinds } from "./film.js";
import { measures, reducedMotion } from "./dom.js";

const FILMS_KEPT = 12;
const SHORTEST_FILM = 240;
const LONGEST_FILM = 20000;
/** Before the server is asked again after it has not answered. */
const RETRY_MS = 2000;
/** Between two questions about a ring that plays. */
const ASK_MS = 1000;

/** @type {Set<Player>} */
const players = new Set();

// Runs that nobody else watches end with the page; the server keeps room for others.
addEventListener("pagehide", () => {
  for (const player of players) if (!player.shared) player.drop(player.run, true);
});

/** What a follower is told who wants to steer. */
const led = () => new api.ApiError(403, { code: "presented", message: "You follow a presentation; only the presenter steers." });

/**
 * Events, with the player as argument: `run` (another run, or a fault changed it),
 * `moment` (something to draw), `verdict` (a frame arrived), `clock` (playing or
 * speed changed), `sought` (a jump to another round), `error`.
 */
export class Player {
  constructor() {
    /** @type {any} */ this.run = null;
    this.round = 0;
    this.phase = 0;
    this.playing = false;
    this.speed = 6;
    /** @type {Film[]} */ this.films = [];
    /** @type {Set<string>} */ this.fetching = new Set();
    /** @type {any} */ this.frame = null;
    /** @type {(boolean | null)[] | undefined} */ this.holds = undefined;
    this.asking = false;
    this.listeners = {};
    this.last = 0;
    this.stopAt = Infinity;
    this.ticking = false;
    this.generation = 0;
    /** Others watch this run, too, and whoever streams it tells what it is like. */
    this.shared = false;
    /** Somebody else steers, and nobody here. */
    this.led = false;
    /** A run that others keep, though it was on show here. @type {string | null} */ this.theirs = null;
    this.wanted = new AbortController();
    /** @type {Promise<void> | null} */ this.reviving = null;
    players.add(this);
  }

  on(event, listener) {
    (this.listeners[event] ??= new Set()).add(listener);
    return this;
  }

  emit(event, value = this) {
    for (const listener of this.listeners[event] ?? []) listener(value);
  }

  /**
   * Makes the run of these settings and stands at a round of it.
   * @returns {Promise<boolean>} whether it is on show, and not a later one
   */
  load(settings, round = 0) {
    return (this.loading = this.make(settings, round));
  }

  async make(settings, round) {
    if (this.led) throw led();
    const generation = (this.generation += 1);
    const { run: old, shared } = this;
    // Those who watch the same run go on watching it.
    const run = await (shared ? api.replaceRun(old.id, { ...settings, round: 0 }) : api.createRun(settings));
    if (generation !== this.generation || shared !== this.shared) {
      if (!shared) this.drop(run);
      return false;
    }
    this.take(run, Math.min(round, run.seekable));
    if (old?.id !== run.id) this.drop(old);
    return true;
  }

  /** Goes on with a run like the one on show, which others keep or which is no more. */
  goOnAlone() {
    this.shared = false;
    this.led = false;
    this.theirs = this.run.id;
    return (this.loading = this.copy());
  }

  async copy() {
    const { generation } = this;
    const run = await api.createRun(this.run.settings);
    if (generation === this.generation) this.take(run, this.round);
    else this.drop(run);
  }

  /** What nobody needs any more; the run that others keep is none of it. */
  drop(run, keepalive = false) {
    if (run && run.id !== this.theirs) api.dropRun(run.id, keepalive).catch(() => {});
  }

  /** A run as the server describes it. */
  take(run, round = this.round) {
    // Nobody waits for answers about the old run.
    this.wanted.abort();
    this.wanted = new AbortController();
    this.run = run;
    this.films = [];
    this.fetching.clear();
    this.frame = run.frame && run.frame.round === round ? run.frame : null;
    this.holds = this.frame?.holds;
    this.segments = run.segments.map((segment) => ({ ...segment, kinds: kinds(run, segment) }));
    this.round = round;
    this.phase = 0;
    this.emit("run");
    if (this.frame) this.emit("verdict");
    this.wake();
  }

  get n() {
    return this.run.processes;
  }

  get d() {
    return this.run.separation;
  }

  /** What follows from the start or from the last fault before a round. */
  segmentAt(round = this.round) {
    let found = 0;
    for (let i = 0; i < this.segments.length; i += 1) if (this.segments[i].from <= round) found = i;
    return found;
  }

  /**
   * What to do about an error: a run that the server has dropped (it was idle for
   * long) is made again from its settings; all else is told.
   */
  async fail(error) {
    if (error.code !== "unknown_run" || this.shared) {
      this.emit("error", error);
      return;
    }
    // Several questions may have met with the same answer.
    this.reviving ??= this.goOnAlone().catch((problem) => this.emit("error", problem)).finally(() => (this.reviving = null));
    await this.reviving;
  }

  /** Strikes in the round on show. */
  async fault(text, token) {
    // A run that is being made will take the place of this one, which is then dropped.
    await this.loading?.catch(() => {});
    if (!this.run) return;
    if (this.led) throw led();
    // What is more than half way to the next state is that state.
    const round = this.phase > 0.5 ? this.round + 1 : this.round;
    const strike = () => api.strike(this.run.id, token === undefined ? { fault: text, round } : { fault: text, round, token });
    let { id } = this.run;
    const run = await strike().catch(async (error) => {
      if (error.code !== "unknown_run" || this.shared) throw error;
      await this.fail(error);
      ({ id } = this.run);
      return strike();
    });
    // Meanwhile another run may have come.
    if (this.run.id === id) this.take(run, round);
  }

  /** Shows what the stream of a shared run says. */
  follow(frame) {
    const { led: before } = this;
    this.led = false;
    if (this.speed !== frame.speed) this.setSpeed(frame.speed);
    if (frame.playing) this.play();
    else this.pause();
    const apart = Math.abs(frame.round - this.round);
    if (apart > (frame.playing ? Math.max(2, 0.4 * frame.speed) : 0)) this.seek(frame.round);
    this.led = before;
    this.holds = frame.holds;
    if (frame.round !== this.round) return;
    this.frame = frame;
    this.emit("verdict");
  }

  play() {
    if (!this.run || this.playing || this.led) return;
    if (this.round >= this.run.seekable) return;
    this.playing = true;
    this.last = 0;
    this.emit("clock");
    this.wake();
  }

  pause() {
    if (!this.led) this.halt();
  }

  halt() {
    if (!this.playing) return;
    this.playing = false;
    this.stopAt = Infinity;
    if (reducedMotion.matches) this.phase = 0;
    this.emit("clock");
    this.wake();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Glides to the next round and stops there; backwards it jumps. */
  step(rounds) {
    if (!this.run || this.led) return;
    if (rounds < 0 || reducedMotion.matches) {
      this.pause();
      this.seek(this.round + (rounds < 0 && this.phase > 0 ? rounds + 1 : rounds));
      return;
    }
    this.stopAt = this.round + rounds;
    this.play();
  }

  seek(round) {
    if (!this.run || this.led) return;
    this.round = Math.max(0, Math.min(this.run.seekable, Math.floor(round)));
    this.phase = 0;
    this.stopAt = Infinity;
    this.emit("sought");
    this.wake();
  }

  setSpeed(speed) {
    if (this.led) return;
    this.speed = speed;
    this.emit("clock");
  }

  /** Draws soon. */
  wake() {
    if (this.ticking) return;
    this.ticking = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.ticking = false;
    if (!this.run) return;
    const film = this.filmAt(this.round);
    if (this.playing) {
      // A tab that was hidden does not race to catch up.
      const passed = this.last ? Math.min(0.1, (now - this.last) / 1000) : 0;
      this.last = now;
      if (film) this.advance(passed * this.speed, film);
    }
    this.emit("moment");
    this.judge();
    if (this.playing) this.wake();
  }

  advance(rounds, film) {
    let time = this.phase + rounds;
    let round = this.round + Math.floor(time);
    time -= Math.floor(time);
    const end = Math.min(this.stopAt, this.run.seekable);
    if (round >= end) {
      round = end;
      time = 0;
      this.round = round;
      this.phase = 0;
      this.halt();
      return;
    }
    // Wait at the end of what is known, rather than show what is not.
    if (round >= film.to && !this.filmAt(round)) {
      round = Math.max(this.round, film.to - 1);
      time = 0.999;
    }
    this.round = round;
    this.phase = time;
    if (round + this.speed * 1.5 > film.to) this.filmAt(Math.min(film.to + 1, this.run.seekable));
  }

  /** What is on show now; null while it is on its way. @returns {import("./film.js").Moment | null} */
  moment() {
    const film = this.run && this.filmAt(this.round);
    if (!film) return null;
    const phase = reducedMotion.matches ? 0 : this.phase;
    return film.moment(this.round, phase);
  }

  /** The film that has a round; asks for it if there is none. @returns {Film | undefined} */
  filmAt(round) {
    const found = this.films.find((film) => film.from <= round && (round < film.to || (round === film.to && round === this.run.seekable)));
    if (!found) this.fetch(round, Math.max(SHORTEST_FILM, Math.min(LONGEST_FILM, Math.ceil(this.speed * 6))));
    return found;
  }

  /** Films that show some of these rounds, asking for what is missing. */
  filmsBetween(from, to) {
    const overlapping = this.films.filter((film) => film.from <= to && film.to >= from);
    let at = Math.max(0, Math.floor(from));
    const end = Math.min(this.run.seekable, Math.ceil(to));
    for (let guard = 0; at < end && guard < 40; guard += 1) {
      const has = overlapping.find((film) => film.from <= at && at < film.to);
      if (has) at = has.to;
      else {
        this.fetch(at, Math.max(SHORTEST_FILM, Math.min(LONGEST_FILM, end - at)));
        break;
      }
    }
    return overlapping;
  }

  async fetch(round, rounds) {
    const { run } = this;
    const index = this.segmentAt(round);
    const segment = this.segments[index];
    const next = this.segments[index + 1]?.from ?? run.seekable;
    // Whole stretches, so that two questions about the same time are one.
    const whole = round - ((round - segment.from) % SHORTEST_FILM);
    // An answer about very many tokens is cut short; then from here on.
    const cut = this.films.some((film) => film.from === whole && film.to <= round);
    const from = cut ? round : whole;
    const to = Math.min(next, Math.max(from + rounds, round + SHORTEST_FILM));
    const key = `${index}:${from}`;
    if (this.fetching.has(key)) return;
    this.fetching.add(key);
    try {
      const answer = await api.stretch(run.id, from, Math.max(to - from, 0), this.wanted.signal);
      if (this.run !== run) return;
      const film = new Film(answer, { n: run.processes, d: run.separation, delays: segment.kinds });
      this.films.unshift(film);
      this.films.length = Math.min(this.films.length, FILMS_KEPT);
      this.wake();
    } catch (error) {
      if (this.run !== run) return;
      this.halt();
      this.fail(error);
      // It may be asked again, but not at once.
      setTimeout(() => {
        this.fetching.delete(key);
        this.wake();
      }, RETRY_MS);
      return;
    }
    this.fetching.delete(key);
  }

  /**
   * The verdict on the state on show: at once from the film, and in full (D1 to D5) from
   * the stream of a shared run, or else from the server, one question at a time. While it
   * plays the film says all, but for rings that measure.
   */
  async judge() {
    const { run, round } = this;
    if (this.frame && this.frame.round === round && this.frame.version === run.version && !this.frame.partial) return;
    const judged = this.judgeByFilm();
    if (this.asking || (this.playing && (this.shared || (judged && this.holds && !measures(run.program))))) return;
    this.asking = true;
    let wait = this.playing ? ASK_MS : 20;
    try {
      const frame = await api.frameAt(run.id, round, this.wanted.signal);
      if (this.run === run && frame.version === run.version) {
        this.holds = frame.holds;
        if (frame.round === this.round || !this.playing) this.frame = frame;
        this.emit("verdict");
      }
    } catch (error) {
      // What was asked of another run says nothing of this one.
      if (this.run === run) {
        wait = RETRY_MS;
        if (error.code !== "too_fast") this.fail(error);
      }
    } finally {
      setTimeout(() => {
        this.asking = false;
        if (this.run && (this.frame?.round !== this.round || this.frame.partial)) this.wake();
      }, wait);
    }
  }

  /** Whether the film could tell. */
  judgeByFilm() {
    const { run, round } = this;
    const film = this.films.find((candidate) => candidate.from <= round && round < candidate.to);
    if (!film?.verdicts?.length) return false;
    if (this.frame?.round === round) return true;
    let verdict = film.verdicts[0];
    for (const later of film.verdicts) if (later.round <= round) verdict = later;
    // What held while it was legitimate says nothing of what is not.
    if (this.frame?.legitimate && !verdict.legitimate) this.holds = undefined;
    this.frame = {
      // What holds follows from legitimacy, and is not known without.
      ...verdict, partial: true, run: run.id, version: run.version, round,
      holds: verdict.legitimate ? run.desiderata?.map(() => true) : this.holds,
      closest: film.closest, segment: this.segmentAt(round), measuring: film.measuringAt(round),
    };
    this.emit("verdict");
    return true;
  }
}
