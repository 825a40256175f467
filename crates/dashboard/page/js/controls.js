// The settings: sizes, start, delays, faults. They change the view; main.js makes
// the run and the link from it.

import { all, byId, count, h, setText, toast } from "./dom.js";
import { wholeNumber } from "./url.js";

const MOST_BY_SLIDER = 10000;

/**
 * @param {import("./player.js").Player} player
 * @param {import("./url.js").View} view
 * @param {{changed: () => void, fault: (text: string) => void, dropFaultsFrom: (index: number) => void}} to
 */
export function controls(player, view, to) {
  const sizes = { n: "processes", m: "tokens", d: "separation" };
  const { settings } = view;

  /** The largest value that a slider offers. */
  const most = {
    n: () => MOST_BY_SLIDER,
    m: () => Math.max(4, Math.min(settings.processes, Math.ceil((1.6 * settings.processes) / settings.separation))),
    d: () => Math.max(4, Math.min(settings.processes, Math.ceil((1.6 * settings.processes) / settings.tokens))),
  };
  const least = { n: 2, m: 1, d: 1 };
  // Equal steps of a slider are equal factors for n, which spans four powers of ten.
  const fromSlide = (key, slide) => {
    const share = slide / 1000;
    const [low, high] = [least[key], most[key]()];
    const value = key === "n" ? low * (high / low) ** share : low + (high - low) * share;
    return Math.round(value);
  };
  const toSlide = (key, value) => {
    const [low, high] = [least[key], most[key]()];
    const share = key === "n" ? Math.log(value / low) / Math.log(high / low) : (value - low) / Math.max(1, high - low);
    return String(Math.round(1000 * Math.max(0, Math.min(1, share))));
  };

  const set = (name, value) => {
    if (settings[name] === value) return;
    settings[name] = value;
    fresh();
  };

  /** Another ring: faults and the round belong to the old one. */
  function fresh() {
    view.state = null;
    view.faults = [];
    view.round = 0;
    show();
    to.changed();
  }

  for (const [key, name] of Object.entries(sizes)) {
    const field = byId(key);
    const slide = byId(`${key}-slide`);
    slide.addEventListener("input", () => set(name, fromSlide(key, Number(slide.value))));
    field.addEventListener("change", () => {
      const value = wholeNumber(field.value);
      const fine = value !== null && value >= least[key];
      field.setAttribute("aria-invalid", String(!fine));
      if (fine) set(name, value);
      else toast(`${name}: expected a whole number from ${least[key]} on`, "error");
    });
  }

  for (const button of all("[data-start]")) {
    button.addEventListener("click", () => {
      settings.start = button.dataset.start;
      fresh();
    });
  }

  byId("seed").addEventListener("change", () => {
    const seed = wholeNumber(byId("seed").value);
    if (seed !== null) set("seed", seed);
  });
  byId("reseed").addEventListener("click", () => {
    const numbers = crypto.getRandomValues(new Uint32Array(1));
    if (settings.start !== "random") settings.start = "random";
    set("seed", numbers[0] % 1000000);
  });

  const choice = byId("delays");
  const value = byId("delays-value");
  choice.addEventListener("change", () => {
    const n = settings.processes;
    const first = { all: "all", count: String(Math.max(1, Math.round(n / 6))), every: `every:${Math.max(1, Math.min(n, settings.separation))}`, at: "at:0" };
    set("delays", first[choice.value]);
  });
  value.addEventListener("change", () => {
    const text = value.value.replace(/\s+/g, "");
    if (text) set("delays", { count: text, every: `every:${text}`, at: `at:${text}` }[choice.value] ?? "all");
  });

  byId("program").addEventListener("change", () => {
    settings.program = byId("program").value;
    if (settings.program.startsWith("measure")) settings.delays = "all";
    if (settings.program === "moving-block") {
      if (settings.start === "worst") settings.start = "piled";
      // Without slack nothing would move.
      settings.tokens = Math.max(1, Math.min(settings.tokens, Math.floor((settings.processes - 1) / settings.separation)));
    }
    fresh();
  });

  for (const button of all("[data-fault]")) button.addEventListener("click", () => to.fault(button.dataset.fault));

  function show() {
    for (const [key, name] of Object.entries(sizes)) {
      const field = byId(key);
      if (document.activeElement !== field) field.value = String(settings[name]);
      field.setAttribute("aria-invalid", "false");
      byId(`${key}-slide`).value = toSlide(key, settings[name]);
    }
    for (const button of all("[data-start]")) {
      button.setAttribute("aria-pressed", String(!view.state && button.dataset.start === settings.start));
      button.disabled = settings.program === "moving-block" && button.dataset.start === "worst";
    }
    const seed = byId("seed");
    if (document.activeElement !== seed) seed.value = String(settings.seed);
    const [kind, rest] = settings.delays === "all" ? ["all", ""] : settings.delays.startsWith("every:") ? ["every", settings.delays.slice(6)]
      : settings.delays.startsWith("at:") ? ["at", settings.delays.slice(3)] : ["count", settings.delays];
    choice.value = kind;
    value.hidden = kind === "all";
    if (document.activeElement !== value) value.value = rest;
    byId("program").value = settings.program;
    const block = settings.program === "moving-block";
    const measured = settings.program !== "fixed" && !block;
    byId("d-field").hidden = measured;
    const alone = settings.program.startsWith("measure");
    choice.disabled = alone || block;
    setText(byId("hands"), block ? "Scramble and pile up are the faults of a moving block: it has no counters, and its tokens keep their order."
      : "Drag a token. Click a process: delay or relay. Click inside the ring: its counter. Drag outside: select.");
    const need = settings.tokens * settings.separation;
    const fits = block ? need < settings.processes : need <= settings.processes;
    const line = byId("fits");
    line.classList.toggle("bad", !fits && !measured);
    setText(line, alone ? "one process measures the ring and finds ⌊n/m⌋ itself"
      : measured ? "every delay measures the ring and finds ⌊n/m⌋ itself"
      : block ? `m·d = ${settings.tokens}·${settings.separation} = ${count(need)} ${fits ? "< n: it fits" : "≥ n: no room to move"}`
      : `m·d = ${settings.tokens}·${settings.separation} = ${count(need)} ${fits ? "≤" : ">"} n: ${fits ? "it fits" : "too many, a jam"}`);
    const list = view.faults.map((fault, index) => h("li", {}, fault, h("button", {
      type: "button", "aria-label": `Take back ${fault} and what follows`, title: "Take it back, and what follows", onclick: () => to.dropFaultsFrom(index),
    }, "×")));
    byId("faults").replaceChildren(...list.slice(-12));
  }

  player.on("run", () => {
    // A state file brings its own sizes.
    if (view.state) Object.assign(settings, { processes: player.run.processes, tokens: player.run.tokens, separation: player.run.separation });
    show();
  });
  show();
  return { show };
}
