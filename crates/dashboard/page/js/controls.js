// The settings: sizes, start, delays, faults. They are those of the run on show; whoever
// changes one asks for another run.

import { all, byId, count, faultWords, h, setText, settled, toast } from "./dom.js";
import { FIRST, settingsOf, wholeNumber } from "./url.js";

const MOST_PROCESSES = 100000;

/**
 * @param {import("./player.js").Player} player
 * @param {{make: (settings: any, step: boolean) => Promise<void>, fault: (text: string) => void, dropFaultsFrom: (index: number) => void}} to
 */
export function controls(player, to) {
  const sizes = { n: "processes", m: "tokens", d: "separation" };
  /** What was asked for and is not on show yet. @type {any} */
  let asked = null;
  const now = () => asked ?? (player.run ? settingsOf(player.run) : { ...FIRST });

  /** The largest value that a slider offers; each value has a step of its own. */
  const most = {
    n: () => Math.max(200, Math.min(MOST_PROCESSES, 2 * now().processes)),
    m: () => Math.max(4, now().tokens, Math.min(now().processes, Math.ceil((1.6 * now().processes) / now().separation))),
    d: () => Math.max(4, now().separation, Math.min(now().processes, Math.ceil((1.6 * now().processes) / now().tokens))),
  };
  const least = { n: 2, m: 1, d: 1 };

  let step = false;
  /** The slider that made the last change; its next one is part of the same step back. */
  let slid = null;

  /** Asks for another ring: faults and the round belong to the old one. */
  function change(changes, slide = null) {
    step ||= !slide || slide !== slid;
    slid = slide;
    asked = { ...now(), ...changes };
    show();
    send();
  }
  const send = settled(async () => {
    const mine = asked;
    const whole = step;
    step = false;
    await to.make(mine, whole);
    if (asked === mine) asked = null;
    show();
  }, 60);

  const set = (name, value, slide = null) => {
    if (now()[name] !== value) change({ [name]: value }, slide);
  };

  for (const [key, name] of Object.entries(sizes)) {
    const field = byId(key);
    const slide = byId(`${key}-slide`);
    slide.addEventListener("input", () => set(name, Number(slide.value), slide));
    for (const anew of ["pointerdown", "blur"]) slide.addEventListener(anew, () => (slid = null));
    field.addEventListener("change", () => {
      const value = wholeNumber(field.value);
      const fine = value !== null && value >= least[key];
      field.setAttribute("aria-invalid", String(!fine));
      if (fine) set(name, value);
      else toast(`${name}: expected a whole number from ${least[key]} on`, "error");
    });
  }

  for (const button of all("[data-start]")) {
    button.addEventListener("click", () => change({ start: button.dataset.start }));
  }

  byId("seed").addEventListener("change", () => {
    const seed = wholeNumber(byId("seed").value);
    if (seed !== null) set("seed", seed);
  });
  byId("reseed").addEventListener("click", () => {
    const numbers = crypto.getRandomValues(new Uint32Array(1));
    change({ start: "random", seed: numbers[0] % 1000000 });
  });

  const choice = byId("delays");
  const value = byId("delays-value");
  choice.addEventListener("change", () => {
    const { processes: n, separation } = now();
    const first = { all: "all", count: String(Math.max(1, Math.round(n / 6))), every: `every:${Math.max(1, Math.min(n, separation))}`, at: "at:0" };
    set("delays", first[choice.value]);
  });
  value.addEventListener("change", () => {
    const text = value.value.replace(/\s+/g, "");
    if (text) set("delays", { count: text, every: `every:${text}`, at: `at:${text}` }[choice.value] ?? "all");
  });

  byId("program").addEventListener("change", () => {
    const program = byId("program").value;
    const { processes, tokens, separation, start, delays } = now();
    // Where only one process measures, it is the server's choice which.
    const one = (name) => name.startsWith("measure");
    const changes = { program, delays: one(program) ? undefined : one(now().program) ? "all" : delays };
    if (program !== "moving-block") return change(changes);
    // Without slack nothing would move.
    change({ ...changes, start: start === "worst" ? "piled" : start, tokens: Math.max(1, Math.min(tokens, Math.floor((processes - 1) / separation))) });
  });

  /** The field that is being typed in: it shows what is typed. */
  let typed = null;
  byId("controls").addEventListener("input", (event) => (typed = event.target));
  byId("controls").addEventListener("change", () => (typed = null));
  byId("controls").addEventListener("focusout", () => {
    typed = null;
    show();
  });

  for (const button of all("[data-fault]")) button.addEventListener("click", () => to.fault(button.dataset.fault));

  function show() {
    const settings = now();
    const state = !asked && player.run?.settings.state;
    for (const [key, name] of Object.entries(sizes)) {
      const field = byId(key);
      if (typed !== field) field.value = String(settings[name]);
      field.setAttribute("aria-invalid", "false");
      const slide = byId(`${key}-slide`);
      // What is held does not slip away.
      if (!slide.matches(":active")) Object.assign(slide, { min: least[key], max: most[key](), value: settings[name] });
    }
    for (const button of all("[data-start]")) {
      button.setAttribute("aria-pressed", String(!state && button.dataset.start === settings.start));
      button.disabled = settings.program === "moving-block" && button.dataset.start === "worst";
    }
    const seed = byId("seed");
    if (typed !== seed) seed.value = String(settings.seed);
    const [kind, rest] = (settings.delays ?? "all") === "all" ? ["all", ""] : settings.delays.startsWith("every:") ? ["every", settings.delays.slice(6)]
      : settings.delays.startsWith("at:") ? ["at", settings.delays.slice(3)] : ["count", settings.delays];
    choice.value = kind;
    value.hidden = kind === "all";
    if (typed !== value) value.value = rest;
    byId("program").value = settings.program;
    const block = settings.program === "moving-block";
    const measured = settings.program !== "fixed" && !block;
    byId("d-field").hidden = measured;
    const alone = settings.program.startsWith("measure");
    for (const part of [choice, value]) part.disabled = alone || block;
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
    const list = (asked ? [] : player.run?.settings.faults ?? []).map((fault, index) => h("li", {}, faultWords(fault), h("button", {
      type: "button", "aria-label": `Take back: ${faultWords(fault)}, and what follows`, title: "Take it back, and what follows", onclick: () => to.dropFaultsFrom(index),
    }, "×")));
    byId("faults").replaceChildren(...list.slice(-12));
  }

  player.on("run", show);
}
