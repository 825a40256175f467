// Networks: a closed walk over a graph is a ring; its tokens move on the graph.

import * as api from "./api.js";
import { begin, sharp } from "./canvas.js";
import { h, plural, setText, toast } from "./dom.js";
import { modulo } from "./film.js";
import { onPalette, palette } from "./palette.js";
import { drawBead } from "./ring.js";
import { RingScene } from "./scene.js";
import { wholeNumber } from "./url.js";

const EXAMPLES = [
  ["figure7", "the paper's figure 7"], ["grid:4x5", "grid"], ["torus:4x6", "torus"], ["star:8", "star"], ["tree:12", "tree"],
  ["line:8", "line"], ["hypercube:4", "hypercube"], ["geometric:30", "sensors in a field"],
];

/** A walk and a run on it, drawn on the network. */
export class NetworkScene {
  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.canvas = h("canvas", { role: "img", "aria-label": "The network and its tokens" });
    this.element = h("div", { class: "scene-network" }, this.canvas);
    this.box = sharp(this.canvas, () => this.draw());
    /** @type {any} */ this.walk = null;
    player.on("moment", () => this.draw());
    onPalette(() => this.draw());
  }

  /** @param {any} walk  as the server answers it */
  show(walk) {
    this.walk = walk;
    this.hops = walk.nodes.length <= 400 ? allHops(walk) : null;
    const used = new Set();
    for (let p = 0; p < walk.walk.length; p += 1) used.add(linkKey(walk.walk[p], walk.walk[(p + 1) % walk.walk.length]));
    this.used = used;
    this.draw();
  }

  /** Node to node, the least distance between two tokens in the network now. */
  closest(moment) {
    if (!this.hops || moment.m < 2) return null;
    let least = Infinity;
    const nodes = Array.from(moment.hop, (hop) => this.walk.walk[Math.floor(hop) % this.walk.walk.length]);
    for (let a = 0; a < nodes.length; a += 1) for (let b = a + 1; b < nodes.length; b += 1) least = Math.min(least, this.hops[nodes[a]][nodes[b]]);
    return least;
  }

  draw() {
    const { box, walk, player } = this;
    if (!walk || !box.visible) return;
    const colours = palette();
    const ctx = begin(box);
    const margin = 34;
    const wide = Math.max(...walk.nodes.map((node) => node.x), 1e-9);
    const high = Math.max(...walk.nodes.map((node) => node.y), 1e-9);
    const scale = Math.min((box.width - 2 * margin) / wide, (box.height - 2 * margin) / high);
    const left = (box.width - wide * scale) / 2;
    const top = (box.height - high * scale) / 2;
    const at = (node) => [left + walk.nodes[node].x * scale, top + walk.nodes[node].y * scale];
    for (const used of [false, true]) {
      ctx.strokeStyle = used ? colours.relay : colours.line;
      ctx.lineWidth = used ? 1.6 : 1.2;
      ctx.beginPath();
      for (const [a, b] of walk.links) {
        if (this.used.has(linkKey(a, b)) !== used) continue;
        ctx.moveTo(...at(a));
        ctx.lineTo(...at(b));
      }
      ctx.stroke();
    }
    const size = Math.max(2.5, Math.min(9, scale / Math.sqrt(walk.nodes.length) / 6));
    const names = walk.nodes.length <= 40;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    for (let node = 0; node < walk.nodes.length; node += 1) {
      const [x, y] = at(node);
      ctx.beginPath();
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fillStyle = colours.ground;
      ctx.fill();
      // A node that the walk passes more than once has a heavier rim.
      ctx.lineWidth = walk.nodes[node].positions.length > 1 ? 2.6 : 1.4;
      ctx.strokeStyle = colours.delay;
      ctx.stroke();
      ctx.fillStyle = colours.muted;
      if (names) ctx.fillText(walk.nodes[node].name, x + size, y + size);
    }
    const moment = player.run && player.n === walk.walk.length ? player.moment() : null;
    if (moment) this.drawTokens(ctx, moment, at, size, colours);
  }

  drawTokens(ctx, moment, at, size, colours) {
    const { walk } = this.walk;
    const bead = Math.max(8, Math.min(12, size * 1.6));
    for (let k = moment.m - 1; k >= 0; k -= 1) {
      const position = Math.floor(moment.hop[k]) % walk.length;
      const share = modulo(moment.hop[k], 1);
      const [ax, ay] = at(walk[position]);
      const [bx, by] = at(walk[(position + 1) % walk.length]);
      const x = ax + (bx - ax) * share;
      const y = ay + (by - ay) * share - moment.slot[k] * bead * 1.3;
      drawBead(ctx, k, x, y, bead, colours, { rim: moment.violated[k] ? colours.bad : colours.ground });
    }
  }
}

const linkKey = (a, b) => (a < b ? `${a}-${b}` : `${b}-${a}`);

/** Distances in hops between all nodes, by breadth-first search from each. */
function allHops({ nodes, links }) {
  const beside = nodes.map(() => /** @type {number[]} */ ([]));
  for (const [a, b] of links) {
    beside[a].push(b);
    beside[b].push(a);
  }
  return nodes.map((_, from) => {
    const hops = new Array(nodes.length).fill(Infinity);
    hops[from] = 0;
    const queue = [from];
    for (const node of queue) {
      for (const next of beside[node]) {
        if (hops[next] < Infinity) continue;
        hops[next] = hops[node] + 1;
        queue.push(next);
      }
    }
    return hops;
  });
}

/** What the server says about a walk, in a few sentences. */
export function aboutWalk(walk) {
  const again = walk.nodes.filter((node) => node.positions.length > 1).length;
  const parts = [`A closed walk of ${walk.length} steps visits all ${walk.nodes.length} nodes${again ? `, ${again} of them more than once` : ""}.`];
  parts.push(`${plural(walk.tokens, "token")}, ${walk.separation} apart on the walk, stay ${walk.distance_kept} apart in the network.`);
  if (walk.proved_best) parts.push("No walk keeps more.");
  else if (walk.upper_bound !== null && walk.upper_bound !== undefined) parts.push(`No walk keeps more than ${walk.upper_bound}${walk.upper_bound_because ? `: ${walk.upper_bound_because}` : ""}.`);
  return parts.join(" ");
}

/** The tab. */
export function build(panel, view, to) {
  view.own.networks ??= { network: "figure7", tokens: 3, seed: view.settings.seed };
  const scene = new RingScene(4);
  const network = new NetworkScene(scene.player);
  const text = h("p", { class: "reading", role: "status" });
  const now = h("p", { class: "reading" });
  const harder = h("button", { type: "button", hidden: true, onclick: () => ask("best") }, "Look harder for a better walk");
  const input = h("input", { type: "file", accept: ".graphml,.dot,.gv,.gml,.gexf,.net,.g6,.s6,.mtx,.adjlist,.edges,.txt,.csv,.json", hidden: true });
  const generator = h("input", { type: "text", id: "network", list: "networks-known", value: view.own.networks.network });
  const known = h("datalist", { id: "networks-known" }, ...EXAMPLES.map(([value, label]) => h("option", { value }, label)));
  const tokens = h("input", { type: "number", id: "network-tokens", min: 1, value: String(view.own.networks.tokens) });
  /** @type {any} */
  let file = null;
  const form = h("form", { class: "line-form", onsubmit: (event) => { event.preventDefault(); file = null; ask(); } },
    h("span", { class: "pair" }, h("label", { for: "network" }, "network"), generator, known),
    h("span", { class: "pair" }, h("label", { for: "network-tokens" }, "tokens"), tokens),
    h("button", { class: "primary" }, "Find a walk"),
    h("button", { type: "button", onclick: () => input.click() }, "Open a network…"), input);
  const examples = h("div", { class: "choices wrap" }, ...EXAMPLES.map(([value, label]) => h("button", { type: "button", onclick: () => {
    generator.value = value;
    file = null;
    ask();
  } }, label)));
  panel.replaceChildren(h("div", { class: "page wide" },
    h("h1", {}, "A ring over a network"),
    h("p", { class: "prose" }, "Few networks are rings. But a closed walk that visits every node is one: give each of its positions a process, and the tokens circulate. Nodes far apart on the walk may be close in the network, so the walk has to be chosen well."),
    form, examples,
    h("div", { class: "two" }, h("figure", { class: "network-figure" }, network.element, text, now, harder), scene.element)));
  input.addEventListener("change", async () => {
    const chosen = input.files[0];
    if (chosen) openFile(chosen.name, await chosen.text());
    input.value = "";
  });
  tokens.addEventListener("change", () => ask());

  function openFile(name, content) {
    file = { name, text: content };
    return ask();
  }

  let asked = 0;
  async function ask(method = "quick") {
    const mine = (asked += 1);
    const many = wholeNumber(tokens.value) ?? 3;
    setText(text, method === "quick" ? "Looking for a walk…" : "Looking harder; this can take ten seconds…");
    harder.hidden = true;
    try {
      const walk = await api.walk({ ...(file ? { file } : { generator: generator.value.trim(), seed: view.own.networks.seed }), tokens: many, method });
      if (mine !== asked) return;
      if (!file) {
        Object.assign(view.own.networks, { network: generator.value.trim(), tokens: many });
        to.remember();
      }
      network.show(walk);
      setText(text, aboutWalk(walk));
      harder.hidden = walk.proved_best || method === "best" || walk.nodes.length > 100;
      await scene.open(walk.settings, { play: true, speed: 4 });
    } catch (error) {
      if (mine !== asked) return;
      setText(text, "");
      toast(file ? `${file.name}: ${error.message}` : error.message, "error");
    }
  }

  let measured = -1;
  scene.player.on("moment", () => {
    const { player } = scene;
    if (!player.run || !network.walk || player.round === measured) return;
    measured = player.round;
    const moment = player.moment();
    const least = moment && network.closest(moment);
    setText(now, least === null || least === undefined ? "" : `Now the closest two are ${plural(least, "hop")} apart in the network.`);
  });

  return {
    enter() {
      const { network: wanted, tokens: many } = view.own.networks;
      if (file || (network.walk && wanted === generator.value.trim() && String(many) === tokens.value)) return;
      generator.value = wanted;
      tokens.value = String(many);
      ask();
    },
    leave: () => scene.leave(),
    openFile,
  };
}
