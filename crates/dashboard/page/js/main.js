// The page: makes the run of the link, and wires views and controls. What the run on show
// is, is said by the run alone; the form and the link are made from it.

import * as api from "./api.js";
import { Beat } from "./beat.js";
import { Classroom } from "./classroom.js";
import { controls } from "./controls.js";
import { Dare, isNew } from "./dare.js";
import { all, byId, setText, settled, toast } from "./dom.js";
import { makeFile, save } from "./export.js";
import { files } from "./files.js";
import { keys } from "./keys.js";
import { Listing } from "./listing.js";
import { restoreTheme, setTheme, theme } from "./palette.js";
import { ALONE, ROOT } from "./place.js";
import { Player } from "./player.js";
import { handle } from "./ringinput.js";
import { RingView } from "./ringview.js";
import { Spacetime } from "./spacetime.js";
import { tabs } from "./tabs.js";
import { Timebar } from "./timebar.js";
import { Together } from "./together.js";
import { transport } from "./transport.js";
import * as url from "./url.js";
import { VerdictView } from "./verdict.js";

restoreTheme();

const opened = url.read(location);
const player = new Player();
player.speed = opened.speed;

/** What is on show, as a link has it. */
const view = {
  tab: opened.tab,
  own: opened.own,
  get settings() {
    return player.run ? url.settingsOf(player.run) : opened.settings;
  },
  get faults() {
    return player.run?.settings.faults ?? [];
  },
  get round() {
    return player.round;
  },
  get speed() {
    return player.speed;
  },
  get state() {
    return player.run?.settings.state ? packed.text : null;
  },
  get run() {
    return together.id;
  },
  problems: [],
};

// ---- views

const ring = new RingView(byId("ring"), player);
new VerdictView({
  line: byId("verdict"), live: byId("verdict-live"), list: byId("desiderata"), centre: byId("centre"),
  closest: byId("closest"), of: byId("closest-of"), word: byId("centre-word"), skip: byId("skip"),
}, player);
const spacetime = new Spacetime(byId("spacetime"), byId("spacetime-tip"), player);
const timebar = new Timebar(byId("timebar"), byId("timebar-canvas"), player);
const beat = new Beat({ section: byId("beat"), claim: byId("beat-claim"), picture: byId("beat-picture"), best: byId("beat-best"), link: byId("beat-link") },
  player, copyText);

/** @type {[number, number] | null} */
let selection = null;
const selectionText = () => {
  const [first, last] = selection;
  return first <= last ? `${first}-${last}` : `${first}-${player.n - 1},0-${last}`;
};

handle(ring, {
  fault,
  hint: (text) => setText(byId("ring-hint"), text || " "),
  say: (text) => setText(byId("ring-now"), text),
  selected,
  focus: (process) => listing.focus(process),
});

const listing = new Listing({ title: byId("listing-title"), lines: byId("listing-lines"), note: byId("listing-note") }, player, (marks) => {
  Object.assign(ring.marks, marks);
  spacetime.focused = marks.focus;
});
spacetime.pointed = (process, round) => listing.focus(process, round);

function selected(range) {
  selection = range;
  byId("fault-selection").disabled = !range;
  setText(byId("fault-selection"), range ? `Scramble ${selectionText()}` : "Scramble selection");
}

// ---- the run

controls(player, {
  async make(settings, step) {
    // Another start of the same ring is an attempt; another ring is none.
    const ring = (of) => JSON.stringify({ ...of, start: null, seed: null });
    const strikes = ring(settings) === ring(view.settings);
    if ((await show({ settings }, step)) && strikes) struck();
  },
  fault,
  dropFaultsFrom,
});

/** A change that is on its way shall be a step back. */
let stepping = false;

/**
 * Makes the run of these settings and stands at a round of it.
 * @param {{settings: any, faults?: string[], state?: any, round?: number}} wanted  `state` as in a file
 * @param {boolean} [step] whether the Back button shall lead to what was before
 * @returns {Promise<boolean>} whether it is on show
 */
async function show(wanted, step = false) {
  stepping ||= step;
  try {
    const shown = await player.load(url.body(wanted), wanted.round);
    if (shown) {
      await remember(stepping);
      stepping = false;
    }
    return shown;
  } catch (error) {
    stepping = false;
    if (player.run) complain(error);
    else await showWithout(wanted, error);
    return false;
  }
}

/** The run of a link. */
async function open(link, step = false) {
  const { settings, faults, round } = link;
  let state = null;
  try {
    if (link.state) state = await url.unpack(link.state);
  } catch (error) {
    link.problems.push(error.message);
  }
  if (link.problems.length) toast(`Not all of this link can be shown: ${link.problems.join("; ")}.`, "error");
  await show({ settings, faults, round, state }, step);
}

/** The first run, where it cannot be shown as it is: leaves out what is wrong with it, and says so. */
async function showWithout(first, error) {
  const wanted = { ...first, settings: { ...first.settings } };
  const ignored = [];
  for (let problem = error; problem;) {
    const [, fault] = /^faults\[(\d+)\]/.exec(problem.field ?? "") ?? [];
    const { settings } = wanted;
    ignored.push(problem.message);
    if (problem.status === 0) break;
    if (wanted.state) wanted.state = null;
    else if (fault !== undefined) wanted.faults = wanted.faults.slice(0, Number(fault));
    else if (problem.field in url.FIRST && settings[problem.field] !== url.FIRST[problem.field]) settings[problem.field] = url.FIRST[problem.field];
    else if (JSON.stringify(settings) !== JSON.stringify(url.FIRST)) wanted.settings = { ...url.FIRST };
    else Object.assign(wanted, { faults: [], round: 0 });
    problem = await player.load(url.body(wanted), wanted.round).then(() => null, (next) => (ignored.length > 20 ? null : next));
  }
  toast(`Not all of this link can be shown: ${ignored.join("; ")}.`, "error");
  remember();
}

async function fault(text, token) {
  if (!player.run) return false;
  try {
    await player.fault(text, token);
    await remember(true);
    struck();
    return true;
  } catch (error) {
    complain(error);
    player.wake();
    return false;
  }
}

/** Somebody has struck it, or chosen a start: one more attempt. */
function struck() {
  const { from } = beat.segment;
  beat.strike(url.write({ ...view, tab: "ring", round: from, speed: url.FIRST_SPEED, run: null }));
}

function dropFaultsFrom(index) {
  const { settings, faults, round } = view;
  show({ settings, faults: faults.slice(0, index), round, state: player.run.settings.state }, true);
}

function complain(error) {
  toast(error.message, "error");
  if (!(error instanceof api.ApiError)) console.error(error);
}
player.on("error", complain);

// ---- the link

/** The state file of the run on show, as it stands in a link. @type {{of: any, text: string | null}} */
const packed = { of: null, text: null };

/** @param {boolean} [push] whether it is a step back */
async function remember(push = false) {
  const file = player.run?.settings.state ?? null;
  if (file && packed.of !== file) Object.assign(packed, { text: await url.pack(JSON.stringify(file)), of: file });
  if (!player.run) return;
  const link = url.write(view);
  if (link === location.pathname + location.search + location.hash) return;
  const steps = history.state?.steps ?? 0;
  if (push) history.pushState({ steps: steps + 1 }, "", link);
  else history.replaceState({ steps }, "", link);
  byId("undo").disabled = !history.state.steps;
}
const undo = () => !player.led && history.state?.steps && history.back();
byId("undo").addEventListener("click", undo);

const rememberSoon = settled(() => remember(), 250);
let lastRemembered = 0;
player.on("moment", () => {
  if (player.playing) {
    if (performance.now() - lastRemembered < 1000) return;
    lastRemembered = performance.now();
    remember();
  } else rememberSoon();
});

addEventListener("popstate", () => {
  const now = url.read(location);
  Object.assign(view.own, now.own);
  byId("undo").disabled = !history.state?.steps;
  dare.end();
  shown.open(now.tab, false);
  // The ring stays as it is behind another tab, and where it is the same; a follower's, anyhow.
  if (now.tab !== "ring" || player.led || url.write(view) === url.write(now)) return;
  player.pause();
  player.setSpeed(now.speed);
  open(now);
});

const together = new Together(player, (why) => {
  const { following } = together;
  player.led = following;
  document.body.classList.toggle("led", following);
  for (const part of all("[data-steers]")) part.disabled = following;
  byId("timebar").setAttribute("aria-disabled", String(following));
  byId("together").setAttribute("aria-pressed", String(Boolean(together.id)));
  classroom.show();
  if (why) toast(why);
  remember();
});
byId("together").hidden = ALONE;
byId("together").addEventListener("click", () => {
  if (together.id) together.leave();
  else if (player.run) {
    together.share();
    copyLink("Link copied. Whoever opens it sees and steers this run with you.");
  }
});

byId("present").hidden = ALONE;
if (ALONE) {
  // Relative to a folder that the address may leave.
  /** @type {any} */ (document.querySelector("link[rel=icon]")).href = `${ROOT}icon.svg`;
  /** @type {any} */ (document.querySelector(".brand")).href = ROOT;
}
const classroom = new Classroom({ bar: byId("class-bar"), button: byId("present"), dialog: byId("class-dialog"), picture: byId("class-code"), link: byId("class-link") },
  player, together, () => {
    remember();
    return location.href;
  });

byId("share").addEventListener("click", () => copyLink("Link copied. It shows what you see."));

byId("embed").addEventListener("click", async () => {
  await remember();
  const link = new URL(location.href);
  link.searchParams.delete("run");
  const code = `<iframe src="${link.href.replace(/&/g, "&amp;")}" title="A ring of tokens" width="100%" height="640" style="border:0"></iframe>`;
  byId("embed-code").value = code;
  setText(byId("embed-note"), ALONE ? "" : `Other sites may show this server only if it was started with --embed and their address. What make site builds below target/site/page may be put on any web server; the part after ${link.origin} stays the same.`);
  byId("embed-dialog").showModal();
  copyText(code, "Copied: paste it into your page.");
});

function copyLink(said) {
  remember();
  copyText(location.href, said);
}

async function copyText(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    toast(text);
  }
}

// ---- time

const typeRound = transport(player);
player.on("clock", () => !player.playing && rememberSoon());

byId("zoom-in").addEventListener("click", () => spacetime.scale(1.4));
byId("zoom-out").addEventListener("click", () => spacetime.scale(1 / 1.4));
byId("zoom-reset").addEventListener("click", () => spacetime.reset());

// ---- the first screen

const dare = new Dare({ box: byId("dare"), ghost: byId("ghost") }, ring);

/** A ring that is well, for whoever wants to break it. */
async function dareTo(step = false) {
  if (player.led) await together.leave();
  player.setSpeed(url.FIRST_SPEED);
  if (await show({ settings: { ...url.FIRST, start: "spaced" } }, step)) dare.begin();
}
byId("brand").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  shown.open("ring", false);
  dareTo(true);
});

// ---- faults, files, colours, keys, tabs

async function scrambleSelection() {
  await fault(selection ? `scramble:${selectionText()}` : "scramble");
  ring.marks.selection = null;
  selected(null);
  player.wake();
}
byId("fault-selection").addEventListener("click", scrambleSelection);

for (const button of all("[data-export]")) {
  button.addEventListener("click", async () => {
    const rounds = Math.max(1, Math.min(2000, url.wholeNumber(byId("film-rounds").value) ?? 30));
    player.pause();
    button.disabled = true;
    try {
      save(await makeFile(button.dataset.export, player, { rounds }));
    } catch (error) {
      complain(error);
    }
    button.disabled = false;
  });
}

function cycleTheme() {
  const next = { auto: "dark", dark: "light", light: "auto" }[theme()];
  setTheme(next);
  showTheme();
}
function showTheme() {
  const text = { auto: "as the system has it", dark: "dark", light: "light" }[theme()];
  byId("theme").setAttribute("aria-label", `Colours: ${text}`);
  byId("theme").title = `Colours: ${text}`;
  setText(byId("theme"), { auto: "◐", dark: "●", light: "○" }[theme()]);
}
byId("theme").addEventListener("click", cycleTheme);
showTheme();

const shown = tabs(view, {
  remember,
  /** Shows settings of another tab on the ring. */
  async showOnRing({ faults, ...settings }) {
    if (player.led) await together.leave();
    shown.open("ring", true);
    show({ settings: { ...url.FIRST, ...settings }, faults });
  },
  leaveDare: () => dare.end(),
  leaveRing: () => player.pause(),
});

files({
  async state(text) {
    if (player.led) await together.leave();
    if (!(await show({ settings: view.settings, state: text }))) return;
    shown.open("ring", true);
    toast(`${player.run.processes} processes and ${player.run.tokens} tokens from the file`);
  },
  network: (name, text) => shown.withNetwork(name, text),
  table: (name, bytes) => shown.withTable(name, bytes),
});

keys({
  play: () => player.toggle(),
  back: () => player.step(-1),
  forward: () => player.step(1),
  restart: () => player.seek(0),
  jump: typeRound,
  faster: () => player.setSpeed(Math.min(1000, Number((player.speed * 1.5).toPrecision(2)))),
  slower: () => player.setSpeed(Math.max(0.5, Number((player.speed / 1.5).toPrecision(2)))),
  scramble: scrambleSelection,
  pile: () => fault("pile"),
  undo,
  theme: cycleTheme,
  tab: (index) => shown.open(["ring", "lessons", "explore", "networks", "fleet"][index], true),
  onRing: () => shown.current() === "ring",
});

// For tests and the curious.
Object.assign(window, { headway: { player, view, ring, spacetime, timebar, listing, together, makeFile } });

shown.open(view.tab, false);
if (opened.run && ALONE) {
  opened.problems.push("watching together needs headway serve");
  opened.run = null;
}
if (opened.run) {
  together.follow(opened.run).catch(() => {
    toast("The run that was shared is no more; this is its beginning.");
    open(opened);
  });
} else {
  if (isNew(location)) dareTo();
  else open(opened);
}
