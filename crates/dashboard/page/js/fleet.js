// Fleet: real nodes, watched. Who holds a token, how far apart in true time, who is
// silent, what has settled.

import * as api from "./api.js";
import { begin, sharp } from "./canvas.js";
import { h, plural, setText, toast } from "./dom.js";
import { onPalette, palette } from "./palette.js";
import { ALONE } from "./place.js";

/** "8 s", "3 min", "2 h". */
function ago(milliseconds) {
  const seconds = Math.round((milliseconds ?? 0) / 1000);
  return seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** @param {HTMLElement} panel */
export function build(panel) {
  const line = h("p", { class: "verdict-line", role: "status", "aria-live": "polite" });
  const canvas = h("canvas", { role: "img", "aria-label": "The nodes on their ring" });
  const body = h("tbody", {});
  const table = h("table", { class: "fleet" },
    h("thead", {}, h("tr", {}, ...["node", "state", "holds", "laps of the patrol", "silent neighbours"].map((title) => h("th", { scope: "col" }, title)))), body);
  const demo = h("div", { class: "choices wrap demo", role: "group", "aria-label": "A demonstration: kill a node" });
  const rollouts = h("section", { class: "rollouts", "aria-label": "Rollouts" });
  const there = h("div", { class: "two" }, h("div", { class: "scene-ring" }, canvas), h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Nodes" }, table));
  const absent = h("div", { class: "prose" },
    h("p", {}, ALONE ? "This copy of the page has no server behind it, and only a server can ask nodes. Start one with the addresses of nodes:" : "No nodes are watched. Start the page with the addresses of nodes:"),
    h("pre", { tabindex: "0" }, "headway serve --fleet http://10.0.0.1:7020,http://10.0.0.2:7020"),
    h("p", {}, "Then this view shows who holds a token, the distances in true time, silent neighbours, what has settled, and rollouts with their progress."));
  panel.replaceChildren(h("div", { class: "page wide" }, h("h1", {}, "A fleet of nodes"), line, demo, absent, there, rollouts));
  there.hidden = true;

  /** @type {any} */
  let fleet = null;
  /** The rollouts that are shown, so that a button under the finger stays. */
  let told = "";
  /** @type {EventSource | null} */
  let source = null;
  const box = sharp(canvas, draw);
  onPalette(draw);

  function show(answer) {
    fleet = answer;
    there.hidden = false;
    there.classList.remove("old");
    absent.hidden = true;
    const { summary, nodes } = answer;
    const { standing } = summary;
    const bad = summary.violated || standing || summary.reachable < nodes.length;
    line.className = `verdict-line ${bad ? "bad" : "good"}`;
    // Who has just been lost is known here before the others know it: what they say of themselves is no good news then.
    const lost = nodes.filter((node) => node.error).map((node) => node.status?.name ?? node.url);
    const parts = [`${summary.reachable} of ${nodes.length} nodes answer${lost.length ? "" : `, ${summary.settled} have settled`}.`];
    if (lost.length) parts.unshift(`${lost.join(", ")} ${lost.length > 1 ? "do" : "does"} not answer, and tokens that get there wait. Start ${lost.length > 1 ? "them" : "it"} again; if that cannot be: headway node remove ${lost[0]}.`);
    if (summary.closest !== null && summary.closest !== undefined) parts.push(`Holders are at least ${plural(summary.closest, "hop")} apart; wanted ${summary.separation}.`);
    if (summary.violated) parts.push("Too close.");
    if (standing) parts.unshift(`No token has moved for ${ago(standing.since_ms)}${lost.length ? "." : `: ${standing.why}. What to do: ${standing.to_do}.`}`);
    for (const { name, by } of summary.silent ?? []) parts.push(`${name} is silent, says ${by.join(", ")}.`);
    setText(line, parts.join(" "));
    body.replaceChildren(...nodes.map(row));
    // Once: a button under the finger stays.
    if (answer.may_kill && demo.childElementCount < nodes.length && nodes.every((node) => node.status?.name)) {
      demo.replaceChildren(...nodes.map((node) => h("button", { type: "button", onclick: () => order(api.orderNode(node.status.name, "kill")) }, `kill -9 ${node.status.name}`)),
        h("button", { type: "button", onclick: () => order(api.orderNode("all", "start")) }, "start it again"));
    }
    const all = JSON.stringify([answer.rollouts, answer.may_order]);
    if (all !== told) rollouts.replaceChildren(...(answer.rollouts ?? []).slice(0, 5).map(rollout));
    told = all;
    draw();
  }

  /** Tells what could not be done. */
  const order = (asked) => asked.catch((error) => toast(error.message, "error"));

  function rollout(one) {
    const parts = [`${one.done} of ${one.total} done`];
    if (one.running) parts.push(`${one.running} running`);
    if (one.failed) parts.push(`${one.failed} failed`);
    if (one.rollout_state === "running" && one.left_ms) parts.push(`about ${ago(one.left_ms)} left`);
    const button = (what, sure) => h("button", { type: "button", onclick: () => (!sure || confirm(sure)) && order(api.orderRollout(one.name, what)) }, what);
    const orders = { running: ["pause", "abort"], waiting: ["pause", "abort"], paused: ["resume", "abort"], failed: ["resume", "abort"] }[one.rollout_state] ?? [];
    const buttons = orders.map((what) => button(what, what === "abort" ? `Abort the rollout ${one.name} for good? Steps that run go on.` : ""));
    const failed = (one.steps ?? []).filter((step) => step.step_phase === "failed");
    return h("article", {}, h("h2", {}, `Rollout ${one.name}: ${one.rollout_state}`),
      h("progress", { max: Math.max(1, one.total), value: one.done, "aria-label": `${one.name}: ${one.done} of ${one.total} done` }),
      h("span", {}, ` ${parts.join(", ")}. `), ...(fleet.may_order ? buttons : []),
      h("p", { class: "note" }, (one.command ?? []).join(" ")),
      ...failed.map((step) => h("p", { class: "note" }, `${step.name} failed: ${step.why}`)),
      orders.length && !fleet.may_order ? h("p", { class: "note" }, `To pause it: headway rollout pause ${one.name}, on a member.`) : null);
  }

  function row(node) {
    const status = node.status ?? {};
    const state = node.reachable ? (status.settled ? "settled" : status.phase ?? "settling") : node.error ? "unreachable" : "";
    const said = (status.holding ?? []).map((one) => `token ${one.token}`).join(", ");
    // What a node said before it fell silent is no news.
    const holds = node.reachable ? said : "";
    const stale = node.reachable || !said ? "" : h("span", { class: "stale" }, `${said}, ${ago(node.age_ms)} ago`);
    return h("tr", { class: node.reachable ? "" : "away" },
      h("th", { scope: "row", title: node.url }, status.name ?? node.url),
      h("td", { title: node.error ?? "" }, state), h("td", {}, holds, stale), h("td", {}, String(status.laps ?? "")),
      h("td", {}, (status.silent ?? []).join(", ")));
  }

  function draw() {
    if (!fleet || !box.visible) return;
    const colours = palette();
    const ctx = begin(box);
    const nodes = fleet.nodes;
    const members = Math.max(fleet.summary.members ?? 0, nodes.length);
    const radius = Math.min(box.width, box.height) / 2 - 56;
    const place = (index) => {
      const angle = (index / members) * 2 * Math.PI - Math.PI / 2;
      return [box.width / 2 + radius * Math.cos(angle), box.height / 2 + radius * Math.sin(angle), angle];
    };
    ctx.strokeStyle = colours.line;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.arc(box.width / 2, box.height / 2, radius, 0, 2 * Math.PI);
    ctx.stroke();
    ctx.font = "12px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    nodes.forEach((node, number) => {
      const index = node.status?.index ?? number;
      const [x, y, angle] = place(index);
      ctx.beginPath();
      ctx.arc(x, y, 9, 0, 2 * Math.PI);
      ctx.fillStyle = node.reachable ? (node.status?.settled ? colours.goodWash : colours.ground) : colours.badWash;
      ctx.fill();
      ctx.lineWidth = 2;
      ctx.strokeStyle = node.reachable ? (node.status?.settled ? colours.good : colours.relay) : colours.bad;
      ctx.stroke();
      ctx.fillStyle = colours.muted;
      ctx.fillText(node.status?.name ?? String(index), x + 28 * Math.cos(angle), y + 24 * Math.sin(angle));
      if (!node.reachable) return;
      (node.status?.holding ?? []).forEach((one, slot) => {
        ctx.beginPath();
        ctx.arc(x - (slot * 16) * Math.cos(angle), y - (slot * 16) * Math.sin(angle), 7, 0, 2 * Math.PI);
        ctx.fillStyle = colours.token[one.token % colours.token.length];
        ctx.fill();
      });
    });
  }

  return {
    async enter() {
      if (source || ALONE) return;
      try {
        if (!(await api.about()).fleet) return;
        show(await api.fleet());
      } catch (error) {
        setText(line, error.message);
        return;
      }
      source = api.watchFleet();
      source.addEventListener("fleet", (event) => show(JSON.parse(event.data)));
      source.addEventListener("error", () => {
        line.className = "verdict-line bad";
        setText(line, "headway serve does not answer: what is shown below is old.");
        there.classList.add("old");
      });
    },
    leave() {
      source?.close();
      source = null;
    },
  };
}
