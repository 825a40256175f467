// The page: reads the link, makes the run, wires views and controls, keeps the link
// in step with what is on show.

import * as api from "./api.js";
import { Beat } from "./beat.js";
import { Classroom } from "./classroom.js";
import { controls } from "./controls.js";
import { all, byId, count, setText, settled, toast } from "./dom.js";
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
import * as story from "./story.js";
import { tabs } from "./tabs.js";
import { Timebar } from "./timebar.js";
import { Together } from "./together.js";
import * as url from "./url.js";
import { VerdictView } from "./verdict.js";

restoreTheme();

const view = url.read(location);
const player = new Player();
player.speed = view.speed;

// ---- views

const ring = new RingView(byId("ring"), player);
new VerdictView({
  line: byId("verdict"), live: byId("verdict-live"), list: byId("desiderata"), centre: byId("centre"),
  closest: byId("closest"), of: byId("closest-of"), word: byId("centre-word"), skip: byId("skip"),
}, player);
const spacetime = new Spacetime(byId("spacetime"), byId("spacetime-tip"), player);
new Timebar(byId("timebar"), byId("timebar-canvas"), player);
new Beat({ section: byId("beat"), claim: byId("beat-claim"), picture: byId("beat-picture"), best: byId("beat-best"), link: byId("beat-link") },
  player, view, copyText);

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

const board = controls(player, view, { changed: settled(() => reload(true), 60), fault, dropFaultsFrom });

/** What to POST for the view. */
async function body() {
  const faults = view.faults;
  if (view.state) return { state: await url.unpack(view.state), faults, seed: view.settings.seed };
  const { separation, delays, ...rest } = view.settings;
  if (view.settings.program === "moving-block") return { ...rest, separation, faults };
  if (view.settings.program === "fixed") return { ...rest, separation, delays, faults };
  return delays === "all" ? { ...rest, faults } : { ...rest, delays, faults };
}

/** @param {boolean} [step] whether the Back button shall lead to what was before */
async function reload(step = false) {
  try {
    const settings = await body();
    await player.load(settings, view.round);
    remember(step);
  } catch (error) {
    if (player.run) complain(error);
    else await openWithout(error);
    board.show();
  }
}

/** A link that cannot be shown: leaves out what is wrong with it, and says so. */
async function openWithout(error) {
  const ignored = [...view.problems];
  for (let problem = error; problem;) {
    const [, fault] = /^faults\[(\d+)\]/.exec(problem.field ?? "") ?? [];
    const { settings } = view;
    ignored.push(problem.message);
    if (problem.status === 0) break;
    if (view.state) view.state = null;
    else if (fault !== undefined) view.faults = view.faults.slice(0, Number(fault));
    else if (problem.field in url.FIRST && settings[problem.field] !== url.FIRST[problem.field]) settings[problem.field] = url.FIRST[problem.field];
    else if (JSON.stringify(settings) !== JSON.stringify(url.FIRST)) Object.assign(settings, url.FIRST);
    else Object.assign(view, { faults: [], round: 0 });
    problem = await player.load(await body(), view.round).then(() => null, (next) => (ignored.length > 20 ? null : next));
  }
  view.problems = [];
  toast(`Not all of this link can be shown: ${ignored.join("; ")}.`, "error");
  if (player.run) remember();
}

async function fault(text, token) {
  if (!player.run) return false;
  try {
    await player.fault(text, token);
    view.faults = player.run.settings.faults;
    byId("panel-ring").classList.add("started");
    board.show();
    remember(true);
    return true;
  } catch (error) {
    complain(error);
    player.wake();
    return false;
  }
}

function dropFaultsFrom(index) {
  view.faults = view.faults.slice(0, index);
  view.round = Math.min(player.round, view.round);
  board.show();
  reload(true);
}

function complain(error) {
  toast(error.message, "error");
  if (!(error instanceof api.ApiError)) console.error(error);
}
player.on("error", complain);

// ---- the link

let lastStep = -Infinity;
function remember(push = false) {
  view.round = player.round;
  view.speed = player.speed;
  const link = url.write(view);
  if (link === location.pathname + location.search + location.hash) return;
  const steps = history.state?.steps ?? 0;
  // What a hand does in one go, such as a slider, is one step back.
  const again = performance.now() - lastStep < 800;
  if (push) lastStep = performance.now();
  if (push && !again) history.pushState({ steps: steps + 1 }, "", link);
  else history.replaceState({ steps }, "", link);
  byId("undo").disabled = !history.state.steps;
}
byId("undo").addEventListener("click", () => history.back());

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
  shown.open(now.tab, false);
  // The ring stays as it is behind another tab.
  if (now.tab !== "ring") return;
  Object.assign(view.settings, now.settings);
  Object.assign(view, { faults: now.faults, round: now.round, state: now.state });
  player.pause();
  player.setSpeed(now.speed);
  board.show();
  reload();
});

const together = new Together(player, (id, why) => {
  view.run = id;
  if (id && !player.run.settings.state) {
    // Somebody else's settings, perhaps.
    for (const name of Object.keys(url.FIRST)) view.settings[name] = player.run.settings[name] ?? url.FIRST[name];
    board.show();
  }
  byId("together").setAttribute("aria-pressed", String(Boolean(id)));
  if (why) toast(why);
  remember();
});
byId("together").hidden = ALONE;
byId("together").addEventListener("click", () => {
  if (together.id) together.leave("On your own again.");
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
new Classroom({ bar: byId("class-bar"), button: byId("present"), dialog: byId("class-dialog"), picture: byId("class-code"), link: byId("class-link") },
  player, together, () => {
    remember();
    return location.href;
  });

byId("share").addEventListener("click", () => copyLink("Link copied. It shows what you see."));

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

const playPath = { true: "M6 5h4v14H6zM14 5h4v14h-4z", false: "M7 4.5v15l13-7.5z" };
byId("play").addEventListener("click", () => player.toggle());
byId("centre-play").addEventListener("click", () => player.play());
byId("back").addEventListener("click", () => player.step(-1));
byId("forward").addEventListener("click", () => player.step(1));
byId("restart").addEventListener("click", () => player.seek(0));

player.on("clock", () => {
  byId("play-path").setAttribute("d", playPath[String(player.playing)]);
  byId("play").setAttribute("aria-label", player.playing ? "Pause" : "Play");
  byId("panel-ring").classList.toggle("playing", player.playing);
  if (player.playing) byId("panel-ring").classList.add("started");
  showSpeed();
  if (!player.playing) rememberSoon();
});
player.on("run", () => {
  view.faults = player.run.settings.faults ?? [];
  if (player.round === 0 && !player.playing && player.segments.length === 1) byId("panel-ring").classList.remove("started");
});

const roundField = byId("round");
player.on("moment", () => {
  if (document.activeElement !== roundField) roundField.value = String(player.round);
  const segment = player.segments[player.segmentAt()];
  setText(byId("since"), segment.fault ? `${count(player.round - segment.from)} since the fault` : "since the start");
});
roundField.addEventListener("change", () => {
  const round = url.wholeNumber(roundField.value);
  roundField.setAttribute("aria-invalid", String(round === null));
  if (round === null) {
    toast(`${roundField.value || "nothing"} is no round: type a whole number from 0 to ${count(player.run.seekable)}, such as 120 or 10^6.`, "error");
    return;
  }
  player.pause();
  player.seek(round);
  roundField.blur();
});

const speedSlide = byId("speed");
// 0.5 to 1000 rounds a second, equal steps being equal factors.
speedSlide.addEventListener("input", () => player.setSpeed(Number((0.5 * 2000 ** (Number(speedSlide.value) / 100)).toPrecision(2))));
function showSpeed() {
  speedSlide.value = String(Math.round((100 * Math.log(player.speed / 0.5)) / Math.log(2000)));
  setText(byId("speed-text"), `${player.speed} rounds/s`);
  speedSlide.setAttribute("aria-valuetext", `${player.speed} rounds a second`);
}
showSpeed();

byId("zoom-in").addEventListener("click", () => spacetime.scale(1.4));
byId("zoom-out").addEventListener("click", () => spacetime.scale(1 / 1.4));
byId("zoom-reset").addEventListener("click", () => spacetime.reset());

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
      save(await makeFile(button.dataset.export, player, { rounds, progress: (text) => setText(byId("export-progress"), text) }));
    } catch (error) {
      complain(error);
    }
    setText(byId("export-progress"), "");
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
  showOnRing(settings) {
    Object.assign(view.settings, url.FIRST, settings);
    Object.assign(view, { faults: settings.faults ?? [], state: null, round: 0 });
    delete view.settings.faults;
    shown.open("ring", true);
    board.show();
    reload();
  },
  leaveRing: () => player.pause(),
});

files({
  async state(text) {
    const before = { ...view };
    Object.assign(view, { state: await url.pack(text), faults: [], round: 0 });
    try {
      await player.load({ state: text, seed: view.settings.seed }, 0);
    } catch (error) {
      Object.assign(view, before);
      complain(error);
      return;
    }
    shown.open("ring", true);
    board.show();
    remember();
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
  jump: () => {
    roundField.focus();
    roundField.select();
  },
  faster: () => player.setSpeed(Math.min(1000, Number((player.speed * 1.5).toPrecision(2)))),
  slower: () => player.setSpeed(Math.max(0.5, Number((player.speed / 1.5).toPrecision(2)))),
  scramble: scrambleSelection,
  pile: () => fault("pile"),
  undo: () => history.state?.steps && history.back(),
  theme: cycleTheme,
  tab: (index) => shown.open(["ring", "lessons", "explore", "networks", "fleet"][index], true),
  onRing: () => shown.current() === "ring",
});

// For tests and the curious.
Object.assign(window, { headway: { player, view, ring, spacetime, listing, together, makeFile } });

shown.open(view.tab, false);
if (view.run && ALONE) {
  view.problems.push("watching together needs headway serve");
  view.run = null;
}
if (view.run) {
  together.follow(view.run).catch(() => {
    view.run = null;
    toast("The run that was shared is no more; this is its beginning.");
    reload();
  });
} else {
  if (view.problems.length) toast(`Not all of this link can be shown: ${view.problems.join("; ")}.`, "error");
  view.problems = [];
  const isNew = story.isNew(location);
  reload().then(() => isNew && player.run && story.tell(byId("story"), player, () => {
    player.setSpeed(url.FIRST_SPEED);
    Object.assign(view.settings, url.FIRST);
    Object.assign(view, { faults: [], state: null, round: 0 });
    board.show();
    reload();
  }, (name) => {
    ring.marks.dress = name;
    player.wake();
  }));
}
