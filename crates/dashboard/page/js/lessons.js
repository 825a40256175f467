// Lessons: the paper's story and what came of it, step by step. Each asks what will happen,
// plays it, and says why.

import * as api from "./api.js";
import { h, toast } from "./dom.js";
import { STEPS } from "./lessontext.js";
import { AsynchronyReel, ChainReel } from "./reel.js";
import { Listing } from "./listing.js";
import { NetworkScene, aboutWalk } from "./networks.js";
import { RingScene } from "./scene.js";
import { TokenRingScene } from "./tokenrings.js";

/** @param {HTMLElement} panel @param {import("./url.js").View} view @param {any} to */
export function build(panel, view, to) {
  const text = h("div", { class: "lesson-text prose" });
  const stage = h("div", { class: "lesson-stage" });
  const dots = h("ol", { class: "dots" }, ...STEPS.map((step, index) => h("li", {},
    h("button", { "aria-label": `Step ${index + 1}: ${step.title}`, title: step.title, onclick: () => go(index) }, String(index + 1)))));
  const back = h("button", { onclick: () => go(current - 1) }, "← Back");
  const on = h("button", { class: "primary", onclick: () => (current + 1 < STEPS.length ? go(current + 1) : to.showOnRing({})) }, "Next →");
  panel.replaceChildren(h("div", { class: "page wide lesson" },
    h("nav", { class: "lesson-nav", "aria-label": "Steps" }, back, dots, on),
    h("div", { class: "two" }, h("article", { "aria-live": "polite" }, text), stage)));

  let current = Math.max(0, Math.min(STEPS.length - 1, (view.own.lessons ??= { step: 1 }).step - 1));
  /** @type {any} */
  let scene = null;
  let shown = -1;

  const kinds = {
    ring: () => ringStage(),
    chain: () => reelStage(new ChainReel(), api.chain),
    asynchrony: () => reelStage(new AsynchronyReel(), api.asynchrony),
    network: () => networkStage(),
    pair: () => pairStage(),
  };

  function go(index) {
    current = Math.max(0, Math.min(STEPS.length - 1, index));
    show();
    scrollTo({ top: 0 });
  }

  async function show() {
    const step = STEPS[current];
    view.own.lessons.step = current + 1;
    to.remember();
    shown = current;
    back.disabled = current === 0;
    on.textContent = current + 1 < STEPS.length ? "Next →" : "Now your own ring →";
    [...dots.children].forEach((item, index) => item.firstChild.setAttribute("aria-current", index === current ? "step" : "false"));
    scene?.leave();
    scene = kinds[step.kind]();
    text.replaceChildren(
      h("p", { class: "step" }, `Step ${current + 1} of ${STEPS.length}`), h("h1", {}, step.title),
      ...step.text.map((paragraph) => h("p", {}, ...rich(paragraph))), ...predict(step, scene));
    stage.replaceChildren(scene.element);
    // What is asked is not said beside it.
    stage.classList.add("asking");
    await attempt(step.tries[step.plays], false);
  }

  /** The question, and the answer once it has been seen, or is asked for. */
  function predict(step, mine) {
    /** @type {number | null} */
    let said = null;
    const pressed = (group, one) => group.forEach((other) => other.setAttribute("aria-pressed", String(other === one)));
    const tries = step.tries.map((one, index) => h("button", { type: "button", "aria-pressed": String(index === step.plays), onclick: (event) => {
      pressed(tries, event.currentTarget);
      attempt(one, true);
    } }, one.label));
    const answer = h("div", { class: "answer", "aria-live": "polite" });
    const reveal = () => {
      if (answer.firstChild || scene !== mine) return;
      see.hidden = true;
      stage.classList.remove("asking");
      const right = step.options[step.right];
      answer.append(h("p", {}, h("b", {}, said === null ? right : said === step.right ? "You were right." : `No: ${right}`)),
        ...step.reveal.map((paragraph) => h("p", {}, ...rich(paragraph))),
        h("div", { class: "choices wrap tries", role: "group", "aria-label": "Try" }, ...tries), h("p", { class: "source" }, step.source));
      mine.explain?.();
    };
    const see = h("button", { type: "button", class: "quiet", onclick: reveal }, "Show the answer");
    const options = step.options.map((option, index) => h("button", { type: "button", "aria-pressed": "false", onclick: (event) => {
      if (answer.firstChild) return;
      pressed(options, event.currentTarget);
      said = index;
      attempt(step.tries[step.plays], true);
    } }, option));
    mine.watch((round) => said !== null && round >= step.see && reveal());
    return [h("div", { class: "predict", role: "group", "aria-label": step.ask }, h("p", {}, h("b", {}, ...rich(step.ask))), ...options, see), answer];
  }

  async function attempt(one, play) {
    const mine = scene;
    try {
      if (one.fault) await mine.fault(one.fault);
      else await mine.open(one.settings, { play, speed: one.speed });
    } catch (error) {
      if (scene === mine) toast(error.message, "error");
    }
  }

  function ringStage() {
    const ring = new RingScene(6);
    const ask = (settings) => h("button", { class: "quiet", onclick: () => to.showOnRing(settings) }, "Open it on the ring, with everything →");
    const link = h("p", {});
    const scene = { element: ring.element, ...played(ring) };
    ring.element.append(link);
    return {
      ...scene,
      async open(settings, options) {
        await ring.open(settings, options);
        link.replaceChildren(...(settings.state ? [] : [ask(settings)]));
      },
      async fault(fault) {
        await ring.player.fault(fault);
        ring.player.play();
      },
    };
  }

  function reelStage(reel, asked) {
    return {
      element: reel.element,
      leave: () => reel.leave(),
      toggle: () => reel.toggle(),
      watch: (seen) => (reel.seen = seen),
      open: async (settings, options) => reel.open(await asked(settings), options),
    };
  }

  function networkStage() {
    const ring = new RingScene(3);
    const network = new NetworkScene(ring.player);
    const about = h("p", { class: "reading" });
    return {
      element: h("div", { class: "network-stage" }, network.element, about, ring.element),
      ...played(ring),
      async open(settings, options) {
        const walk = await api.walk(settings);
        network.show(walk);
        about.textContent = aboutWalk(walk);
        await ring.open(walk.settings, options);
      },
    };
  }

  function pairStage() {
    const ring = new RingScene(12);
    const rings = new TokenRingScene(ring.player);
    const named = (name, element) => h("figure", {}, h("figcaption", {}, name), element);
    const both = h("div", { class: "pair" }, named("Dijkstra's rings, a token each", rings.element), named("The delay ring", ring.element.firstChild));
    ring.element.prepend(both);
    return {
      element: ring.element,
      ...played(ring),
      async open({ separation, fault, ...of }, options) {
        rings.rings = await api.tokenRings({ ...of, fault });
        await ring.open({ ...of, separation, start: "spaced", faults: [`scramble@${fault}`] }, options);
      },
    };
  }

  addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (panel.hidden || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, [role=tab]")) return;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) go(current + by);
    else if (event.key === " " && target.tagName !== "BUTTON") scene?.toggle();
    else return;
    event.preventDefault();
  });

  return {
    enter() {
      const asked = view.own.lessons.step - 1;
      if (shown < 0 || asked !== shown) go(asked);
    },
    leave: () => scene?.leave(),
  };
}

/** What every scene with a ring can do; its program's lines are shown with the answer. */
function played(ring) {
  const parts = { title: h("span", {}), lines: h("ol", {}), note: h("span", { class: "caption-note" }) };
  const lines = h("section", { class: "listing", hidden: true }, h("h2", { class: "caption" }, parts.title, parts.note), parts.lines);
  ring.element.append(lines);
  return {
    leave: () => ring.leave(),
    toggle: () => ring.player.toggle(),
    watch: (seen) => ring.player.on("moment", ({ round }) => seen(round)),
    explain() {
      lines.hidden = false;
      new Listing(parts, ring.player, (marks) => Object.assign(ring.view.marks, marks)).show();
    },
  };
}

/** *words* are set in italics, `words` as program names. */
function rich(text) {
  return text.split(/(\*[^*]+\*|`[^`]+`)/).map((part) => {
    if (part.startsWith("*")) return h("i", {}, part.slice(1, -1));
    if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
    return part;
  });
}
