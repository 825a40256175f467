// Explore: how flow depends on density (the jam), how stabilization depends on the
// number of delays, and tables of results as charts.

import * as api from "./api.js";
import { chartIn } from "./chart.js";
import { h, plural, setText, settled, toast } from "./dom.js";

/** @param {HTMLElement} panel @param {import("./url.js").View} view @param {any} to */
export function build(panel, view, to) {
  // First what the ring shows; from then on its own.
  const { processes, tokens, separation, seed } = view.settings;
  view.own.explore ??= { processes, tokens, separation, seed };
  const sliders = {};
  const slider = (name, label, letter, least, most) => {
    const input = h("input", { type: "range", min: least, max: most, id: `explore-${name}` });
    const number = h("output", { for: `explore-${name}` });
    input.addEventListener("input", () => {
      view.own.explore[name] = Number(input.value);
      changed();
    });
    sliders[name] = { input, number };
    return h("div", { class: "slide" }, h("label", { for: `explore-${name}` }, label, " ", h("i", {}, letter)), number, input);
  };
  const flowBox = h("div", { class: "chart-box" });
  const timeBox = h("div", { class: "chart-box" });
  const flowText = h("p", { class: "reading", role: "status" });
  const timeText = h("p", { class: "reading", role: "status" });
  const table = tableCard(view, to);
  panel.replaceChildren(h("div", { class: "page" },
    h("h1", {}, "How much can flow, and how fast it heals"),
    h("div", { class: "slides" },
      slider("processes", "processes", "n", 10, 400), slider("tokens", "tokens", "m", 1, 100), slider("separation", "separation", "d", 1, 60)),
    h("div", { class: "cards" },
      h("section", { class: "card" }, h("h2", {}, "Flow against density"),
        h("p", {}, "Tokens that pass a process in a round. Each token adds to the flow until m·d = n. One more, and all of them queue: the flow is 1/d, whatever comes."),
        flowBox, flowText),
      h("section", { class: "card" }, h("h2", {}, "Stabilization against the number of delays"),
        h("p", {}, "Rounds until the state is legitimate, from random starts with delays at random places. A few delays buy most of it: no more is gained once they are at most d apart."),
        timeBox, timeText),
      table.card),
    h("p", {}, h("button", { class: "primary", onclick: () => {
      const { processes, tokens, separation } = view.own.explore;
      to.showOnRing({ processes, tokens, separation, start: "random" });
    } }, "See these settings on the ring"))));
  const flowChart = chartIn(flowBox);
  const timeChart = chartIn(timeBox);

  const later = settled(ask, 120);
  function changed() {
    show();
    later();
  }

  function show() {
    const settings = view.own.explore;
    sliders.tokens.input.max = String(Math.max(settings.tokens, Math.min(settings.processes, Math.ceil((2 * settings.processes) / settings.separation))));
    sliders.separation.input.max = String(Math.max(settings.separation, Math.floor(settings.processes / 2)));
    for (const [name, { input, number }] of Object.entries(sliders)) {
      if (Number(input.max) < settings[name]) input.max = String(settings[name]);
      input.value = String(settings[name]);
      setText(number, String(settings[name]));
    }
    to.remember();
  }

  let asked = 0;
  async function ask() {
    const mine = (asked += 1);
    const { processes, tokens, separation, seed } = view.own.explore;
    try {
      const flow = await api.flow({ processes, separation, seed });
      if (mine !== asked) return;
      showFlow(flow, tokens);
      if (tokens * separation > processes) {
        timeChart.clear();
        setText(timeText, `${tokens}·${separation} > ${processes}: it never becomes legitimate, so there is no time to draw.`);
        return;
      }
      const time = await api.stabilization({ processes, tokens, separation, samples: 200, seed });
      if (mine === asked) showTime(time);
    } catch (error) {
      if (mine !== asked) return;
      if (error.code === "too_fast") {
        later();
        return;
      }
      // No picture rather than that of other numbers.
      flowChart.clear();
      timeChart.clear();
      setText(flowText, error.message);
      setText(timeText, "");
    }
  }

  function showFlow(flow, tokens) {
    const nearest = flow.points.reduce((best, point) => (Math.abs(point.tokens - tokens) < Math.abs(best.tokens - tokens) ? point : best), flow.points[0]);
    flowChart.show({
      label: `Flow against the number of tokens: rises to ${(1 / flow.separation).toFixed(3)} at ${flow.threshold} tokens and stays there.`,
      x: "tokens m", y: "tokens a round",
      series: [
        { name: "min(m/n, 1/d)", points: flow.points.map((p) => [p.tokens, p.theory]), colour: "faint" },
        { name: "counted", points: flow.points.map((p) => [p.tokens, p.flow]), colour: "token-1", kind: "dots" },
      ],
      marks: [{ x: flow.threshold, text: `m·d = n: ${flow.threshold} tokens` }],
      point: { x: nearest.tokens, y: nearest.flow, text: "" },
    });
    const fits = tokens <= flow.threshold;
    setText(flowText, `${plural(tokens, "token")}: ${Number(nearest.flow.toPrecision(3))} pass a process in a round; ${fits ? (flow.threshold === tokens ? "no more would fit" : `${flow.threshold - tokens} more would fit`) : `${tokens - flow.threshold} too many, a jam`}.`);
  }

  function showTime(time) {
    const line = (field) => time.points.map((p) => [p.delays, p[field]]);
    timeChart.show({
      label: "Rounds until legitimate against the number of delays",
      x: "delays", y: "rounds until legitimate",
      logX: true,
      bands: [{ low: line("least"), high: line("most"), colour: "token-2", name: `least to most of ${time.samples}` }],
      series: [
        { name: "median", points: line("median"), colour: "token-2" },
        { name: "proved worst", points: line("worst"), colour: "faint", kind: "dashed" },
      ],
    });
    const first = time.points[0];
    const last = time.points[time.points.length - 1];
    setText(timeText, `One delay: half of the starts take ${first.median} rounds or fewer, none more than ${first.worst}. All ${last.delays} delay: ${last.median} or fewer, none more than ${last.worst}.`);
  }

  return {
    enter() {
      show();
      ask();
    },
    openTable: table.open,
  };
}

/** Results of `headway sweep`, opened here. */
function tableCard(view, to) {
  const box = h("div", { class: "chart-box" });
  const input = h("input", { type: "file", accept: ".csv,.parquet", hidden: true });
  const pick = (label) => h("select", { "aria-label": label });
  const x = pick("across");
  const y = pick("up");
  const by = pick("one line per");
  const choose = h("div", { class: "choose", hidden: true }, h("label", {}, "across ", x), h("label", {}, "up ", y), h("label", {}, "one line per ", by));
  const text = h("p", { class: "reading" }, "A CSV or Parquet file from headway sweep or headway experiment. Drop it anywhere.");
  const card = h("section", { class: "card" }, h("h2", {}, "Your own results"), text,
    h("p", {}, h("button", { onclick: () => input.click() }, "Open a table…"), input), choose, box);
  const chart = chartIn(box);
  /** @type {any} */
  let table = null;
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (file) open(file.name, await file.arrayBuffer());
    input.value = "";
  });
  for (const select of [x, y, by]) select.addEventListener("change", draw);

  async function open(name, bytes) {
    try {
      table = await api.chart(bytes, name.toLowerCase().endsWith(".parquet") ? "application/vnd.apache.parquet" : "text/csv");
    } catch (error) {
      toast(`${name}: ${error.message}`, "error");
      return;
    }
    setText(text, `${name}: ${plural(table.rows, "row")}, ${plural(table.columns.length, "column")}.`);
    const numbers = table.columns.filter((column) => column.kind === "number").map((column) => column.name);
    const fill = (select, names, chosen, otherwise) => {
      select.replaceChildren(...names.map((one) => h("option", { value: one }, one || "–")));
      select.value = names.includes(chosen) ? chosen : otherwise ?? names[0];
    };
    // What a link or the table before has chosen, where this one has it, too.
    fill(x, numbers, view.own.explore.x, table.x);
    fill(y, numbers, view.own.explore.y, table.y[0]);
    fill(by, ["", ...table.columns.map((column) => column.name)], view.own.explore.by || null, table.by);
    choose.hidden = false;
    draw();
    card.scrollIntoView({ block: "nearest" });
  }

  function draw() {
    if (!table) return;
    Object.assign(view.own.explore, { x: x.value, y: y.value, by: by.value });
    to.remember();
    const column = (name) => table.columns.find((one) => one.name === name)?.values ?? [];
    const groups = new Map();
    const keys = column(by.value);
    // How sure a mean of a sweep is.
    const [low, high] = ["low95", "high95"].map((bound) => column(y.value.replace(/_mean$/, `_${bound}`)));
    const sure = y.value.endsWith("_mean") && low.length > 0 && high.length > 0;
    column(x.value).forEach((value, row) => {
      const up = column(y.value)[row];
      if (value === null || up === null || up === undefined) return;
      const key = by.value ? `${by.value} ${keys[row]}` : y.value;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push([value, up, low[row] ?? up, high[row] ?? up]);
    });
    const shown = [...groups].slice(0, 12).map(([name, rows], index) => ({ name, rows: rows.sort((a, b) => a[0] - b[0]), colour: `token-${index % 8}` }));
    if (shown.length === 0) return;
    const points = (rows, at) => rows.map((row) => [row[0], row[at]]);
    chart.show({
      label: `${y.value} against ${x.value}`, x: x.value, y: y.value,
      series: shown.map(({ name, rows, colour }) => ({ name, points: points(rows, 1), colour })),
      bands: sure ? shown.map(({ rows, colour }, index) => ({ low: points(rows, 2), high: points(rows, 3), colour, name: index ? "" : "95 % confidence of the mean" })) : [],
    });
  }

  return { card, open };
}
