// Lessons: the paper's story and what came of it in ten steps, each a live state.

import * as api from "./api.js";
import { h, toast } from "./dom.js";
import { STEPS } from "./lessontext.js";
import { AsynchronyReel, ChainReel } from "./reel.js";
import { NetworkScene, aboutWalk } from "./networks.js";
import { RingScene } from "./scene.js";

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
    const tries = step.tries.map((one, index) => h("button", { type: "button", "aria-pressed": String(index === 0), onclick: (event) => {
      for (const other of tries) other.setAttribute("aria-pressed", String(other === event.currentTarget));
      attempt(one, true);
    } }, one.label));
    text.replaceChildren(
      h("p", { class: "step" }, `Step ${current + 1} of ${STEPS.length}`), h("h1", {}, step.title),
      ...step.text.map((paragraph) => h("p", {}, ...rich(paragraph))),
      h("div", { class: "choices wrap tries", role: "group", "aria-label": "Try" }, ...tries),
      h("p", { class: "source" }, step.source));
    stage.replaceChildren(scene.element);
    await attempt(step.tries[0], false);
  }

  async function attempt(one, play) {
    const mine = scene;
    try {
      if (one.fault) await mine.fault(one.fault);
      else await mine.open(one.settings, { play: play || Boolean(one.play), speed: one.speed });
    } catch (error) {
      if (scene === mine) toast(error.message, "error");
    }
  }

  function ringStage() {
    const ring = new RingScene(6);
    const ask = (settings) => h("button", { class: "quiet", onclick: () => to.showOnRing(settings) }, "Open it on the ring, with everything →");
    const link = h("p", {});
    ring.element.append(link);
    return {
      element: ring.element,
      leave: () => ring.leave(),
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
      open: async (settings, options) => reel.open(await asked(settings), options),
    };
  }

  function networkStage() {
    const ring = new RingScene(3);
    const network = new NetworkScene(ring.player);
    const about = h("p", { class: "reading" });
    return {
      element: h("div", { class: "network-stage" }, network.element, about, ring.element),
      leave: () => ring.leave(),
      async open(settings, options) {
        const walk = await api.walk(settings);
        network.show(walk);
        about.textContent = aboutWalk(walk);
        await ring.open(walk.settings, options);
      },
    };
  }

  return {
    enter() {
      const asked = view.own.lessons.step - 1;
      if (shown < 0 || asked !== shown) go(asked);
    },
    leave: () => scene?.leave(),
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
