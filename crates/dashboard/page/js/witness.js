// A run that `headway check --witness` wrote: stepped through state by state.

import { h } from "./dom.js";

/**
 * The run in a text, if there is one.
 * @returns {{model: string, states_in_words: string[], repeats_from: number|null}|null}
 */
export function parseWitness(text) {
  try {
    const value = JSON.parse(text);
    const lines = value?.states_in_words;
    const run = Array.isArray(lines) && lines.length > 0 && lines.every((line) => typeof line === "string");
    return run && typeof value.model === "string" ? value : null;
  } catch {
    // Not JSON: whoever takes it says where the mistake is.
    return null;
  }
}

/** A state's rows: each has a name, perhaps an empty one, and a value for every process. */
export function rows(state) {
  return state.split(/ {2,}/).map((row) => {
    const cells = row.split(" ");
    const named = /^[A-Za-z_]/.test(cells[0]) && cells.length > 1;
    return { name: named ? cells[0] : "", cells: named ? cells.slice(1) : cells };
  });
}

/** Opens the run in a dialog. */
export function showWitness(run) {
  const last = run.states_in_words.length - 1;
  let at = 0;
  const table = h("table", { class: "witness" });
  const says = h("p", { class: "note", role: "status" });
  const slider = h("input", {
    type: "range", min: 0, max: last, value: 0, "aria-label": "State",
    oninput: () => show(Number(slider.value)),
  });
  const button = (label, by) => h("button", { type: "button", text: label, onclick: () => show(at + by) });
  const dialog = h("dialog", { "aria-label": `A run of ${run.model}` },
    h("h2", { text: run.model }), table, says, slider,
    h("div", { class: "choices wrap" },
      button("Back", -1), button("On", 1),
      h("button", { type: "button", class: "primary", text: "Close", onclick: () => dialog.close() })));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    show(at + by);
  });

  function show(wanted) {
    // After the last state of a run that repeats comes the one it repeats from.
    const repeats = run.repeats_from ?? null;
    const from = at;
    at = wanted > last ? repeats ?? last : Math.max(0, wanted);
    const before = rows(run.states_in_words[from === at ? Math.max(0, at - 1) : from]);
    const now = rows(run.states_in_words[at]);
    const processes = Math.max(...now.map((row) => row.cells.length));
    const head = h("tr", {}, h("th", { scope: "row", text: "process" }), ...Array.from({ length: processes }, (_, i) => h("th", { scope: "col", text: i })));
    table.replaceChildren(head, ...now.map((row, r) => h("tr", {},
      h("th", { scope: "row", text: row.name || "state" }),
      ...row.cells.map((cell, c) => h("td", {
        text: cell,
        class: before[r]?.cells[c] === cell ? undefined : "changed",
      })))));
    slider.value = at;
    const again = repeats === null ? "" : `; after state ${last} comes state ${repeats} again, forever`;
    says.textContent = `state ${at} of ${last}${again}`;
  }

  document.body.append(dialog);
  show(0);
  dialog.showModal();
}
