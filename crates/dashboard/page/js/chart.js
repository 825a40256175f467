// Line charts, drawn as SVG at the size they are shown. Small on purpose: lines,
// bands, dots, marks, and a readout under the pointer.

import { count, h, s } from "./dom.js";

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {[number, number][]} points
 * @property {string} colour   a CSS colour, or a custom property's name without --
 * @property {"line" | "dots" | "dashed"} [kind]
 */

/**
 * @typedef {object} Chart
 * @property {string} label   what it shows, for those who do not see it
 * @property {string} x
 * @property {string} y
 * @property {Series[]} series
 * @property {{low: [number, number][], high: [number, number][], colour: string, name: string}[]} [bands]
 * @property {{x: number, text: string}[]} [marks]
 * @property {{x: number, y: number, text: string} | null} [point]  what is chosen now
 * @property {boolean} [logX]
 */

const MARGIN = { left: 52, right: 16, top: 14, bottom: 40 };

/** A chart in a box; `show` draws another. @param {HTMLElement} box */
export function chartIn(box) {
  /** @type {Chart | null} */
  let current = null;
  const draw = () => {
    const width = box.clientWidth;
    if (!current || width < 40) return;
    const height = Math.max(210, Math.min(340, width * 0.55));
    box.replaceChildren(drawChart(current, width, height), legend(current));
  };
  new ResizeObserver(draw).observe(box);
  return {
    /** Nothing, until there is something to show again. */
    clear() {
      current = null;
      box.replaceChildren();
    },
    /** @param {Chart} chart */
    show(chart) {
      current = chart;
      draw();
    },
  };
}

const colour = (name) => (/^[a-z]/.test(name) ? `var(--${name})` : name);

function drawChart(chart, width, height) {
  const all = chart.series.flatMap((series) => series.points).concat(...(chart.bands ?? []).flatMap(({ low, high }) => [low, high]));
  const finite = all.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  const xs = finite.map(([x]) => x).concat((chart.marks ?? []).map((mark) => mark.x));
  const low = Math.min(...xs);
  const high = Math.max(...xs, low + 1e-9);
  const top = Math.max(...finite.map(([, y]) => y), 1e-9) * 1.06;
  const bottom = Math.min(0, ...finite.map(([, y]) => y));
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const place = (x) => (chart.logX ? Math.log(x / low) / Math.log(high / low || 2) : (x - low) / (high - low));
  const px = (x) => MARGIN.left + place(x) * inner.width;
  const py = (y) => MARGIN.top + (1 - (y - bottom) / (top - bottom)) * inner.height;

  const svg = s("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": chart.label });
  for (const y of ticks(bottom, top, 5)) {
    svg.append(s("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: py(y), y2: py(y) }),
      s("text", { class: "tick", x: MARGIN.left - 7, y: py(y) + 4, "text-anchor": "end" }, short(y)));
  }
  for (const x of chart.logX ? logTicks(low, high) : ticks(low, high, Math.max(3, Math.floor(inner.width / 80)))) {
    svg.append(s("text", { class: "tick", x: px(x), y: height - MARGIN.bottom + 17, "text-anchor": "middle" }, short(x)));
  }
  svg.append(s("text", { class: "axis", x: MARGIN.left + inner.width / 2, y: height - 5, "text-anchor": "middle" }, chart.x),
    s("text", { class: "axis", x: 12, y: MARGIN.top + inner.height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${MARGIN.top + inner.height / 2})` }, chart.y));
  for (const mark of chart.marks ?? []) {
    const late = px(mark.x) > width * 0.6;
    svg.append(s("line", { class: "mark", x1: px(mark.x), x2: px(mark.x), y1: MARGIN.top, y2: MARGIN.top + inner.height }),
      s("text", { class: "tick", x: px(mark.x) + (late ? -6 : 6), y: MARGIN.top + inner.height - 8, "text-anchor": late ? "end" : "start" }, mark.text));
  }
  const path = (points) => points.filter(([, y]) => Number.isFinite(y)).map(([x, y], i) => `${i ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("");
  for (const band of chart.bands ?? []) {
    const around = `${path(band.high)}${path([...band.low].reverse()).replace("M", "L")}Z`;
    svg.append(s("path", { class: "band", d: around, fill: colour(band.colour), "fill-opacity": 0.16, stroke: "none" }));
  }
  for (const series of chart.series) {
    if (series.kind === "dots") {
      for (const [x, y] of series.points) svg.append(s("circle", { cx: px(x), cy: py(y), r: series.points.length > 60 ? 2 : 3, fill: colour(series.colour) }));
    } else {
      svg.append(s("path", { d: path(series.points), fill: "none", stroke: colour(series.colour), "stroke-width": 2, "stroke-linejoin": "round",
        "stroke-dasharray": series.kind === "dashed" ? "5 4" : undefined }));
    }
  }
  if (chart.point) {
    svg.append(s("circle", { cx: px(chart.point.x), cy: py(chart.point.y), r: 6, fill: "var(--ink)", stroke: "var(--ground)", "stroke-width": 2 }));
  }
  svg.append(readout(chart, { px, py, width, height, inner }));
  return svg;
}

/** A line under the pointer with the values there. */
function readout(chart, { px, py, width, height, inner }) {
  const line = s("line", { class: "mark", y1: MARGIN.top, y2: MARGIN.top + inner.height, visibility: "hidden" });
  const dots = chart.series.map((series) => s("circle", { r: 4, fill: colour(series.colour), visibility: "hidden" }));
  const text = s("text", { class: "readout", y: MARGIN.top + 6, visibility: "hidden" });
  const cover = s("rect", { x: MARGIN.left, y: 0, width: inner.width, height: height - MARGIN.bottom, fill: "transparent" });
  const xs = [...new Set(chart.series.flatMap((series) => series.points.map(([x]) => x)))].sort((a, b) => a - b);
  const hide = () => [line, text, ...dots].forEach((part) => part.setAttribute("visibility", "hidden"));
  cover.addEventListener("pointermove", (event) => {
    if (xs.length === 0) return;
    const at = event.offsetX;
    const x = xs.reduce((best, one) => (Math.abs(px(one) - at) < Math.abs(px(best) - at) ? one : best), xs[0]);
    const values = chart.series.map((series) => series.points.find((point) => point[0] === x)?.[1]);
    line.setAttribute("x1", px(x));
    line.setAttribute("x2", px(x));
    line.setAttribute("visibility", "visible");
    dots.forEach((dot, i) => {
      const y = values[i];
      if (y === undefined || !Number.isFinite(y)) return dot.setAttribute("visibility", "hidden");
      dot.setAttribute("cx", px(x));
      dot.setAttribute("cy", py(y));
      dot.setAttribute("visibility", "visible");
    });
    const late = px(x) > width / 2;
    text.setAttribute("x", px(x) + (late ? -8 : 8));
    text.setAttribute("text-anchor", late ? "end" : "start");
    text.setAttribute("visibility", "visible");
    const parts = [`${short(x)}`];
    chart.series.forEach((series, i) => values[i] !== undefined && Number.isFinite(values[i]) && parts.push(`${series.name} ${short(values[i])}`));
    text.textContent = parts.join(" · ");
  });
  cover.addEventListener("pointerleave", hide);
  return s("g", {}, line, ...dots, text, cover);
}

function legend(chart) {
  const entries = chart.series.map((series) => ({ name: series.name, colour: series.colour, kind: series.kind ?? "line" }));
  for (const band of chart.bands ?? []) if (band.name) entries.push({ ...band, kind: "band" });
  if (entries.length < 2) return h("div", {});
  return h("ul", { class: "legend" }, ...entries.map((entry) => {
    const swatch = h("span", { class: `swatch ${entry.kind}` });
    swatch.style.color = colour(entry.colour);
    return h("li", {}, swatch, entry.name);
  }));
}

/** About this many round numbers between two. */
export function ticks(low, high, about) {
  const rough = (high - low) / Math.max(1, about);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough) ?? power;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) found.push(i * step);
  return found;
}

function logTicks(low, high) {
  const found = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    for (const factor of [1, 2, 5]) if (factor * power >= low && factor * power <= high) found.push(factor * power);
  }
  return found;
}

function short(value) {
  if (Number.isInteger(value)) return count(value).replace(/^-?0$/, "0");
  return String(Number(value.toPrecision(3)));
}
