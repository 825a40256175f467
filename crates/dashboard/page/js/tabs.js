// The tabs. All but the ring are loaded when first opened.

import { all, byId, h } from "./dom.js";
import { ALONE } from "./place.js";
import { TABS } from "./url.js";

/**
 * @param {import("./url.js").View} view
 * @param {{remember: (push?: boolean) => void, showOnRing: (settings: any) => void, leaveRing: () => void, leaveDare: () => void}} to
 */
export function tabs(view, to) {
  /** @type {Object<string, Promise<any>>} */
  const loaded = {};
  const buttons = all("[role=tab]");
  let current = "ring";
  let failed = 0;

  const load = (name) => {
    if (name === "ring") return Promise.resolve(null);
    loaded[name] ??= bring(name);
    return loaded[name];
  };

  /** A view that did not come says so, and can be asked for again. */
  async function bring(name) {
    const panel = byId(`panel-${name}`);
    try {
      // A browser may remember that an address failed; this is another one.
      const module = await import(`./${name}.js${failed ? `?again=${failed}` : ""}`);
      return module.build(panel, view, to);
    } catch (error) {
      failed += 1;
      delete loaded[name];
      console.warn(error);
      panel.replaceChildren(h("div", { class: "page", role: "alert" },
        h("p", {}, ALONE ? "This view did not load." : "This view did not load. Is headway serve still running?"),
        h("p", {}, h("button", { class: "primary", onclick: () => open(name, false) }, "Try again"), " ",
          h("button", { onclick: () => location.reload() }, "Reload the page"))));
      return null;
    }
  }

  /** Shows a tab; `push` makes it a step that the Back button undoes. */
  async function open(name, push) {
    const tab = TABS.includes(name) ? name : "ring";
    if (push || tab !== "ring") to.leaveDare();
    if (tab !== current) {
      if (current === "ring") to.leaveRing();
      else (await loaded[current])?.leave?.();
    }
    current = tab;
    view.tab = tab;
    for (const button of buttons) {
      const on = button.dataset.tab === tab;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
      byId(`panel-${button.dataset.tab}`).hidden = !on;
    }
    document.title = tab === "ring" ? "Headway" : `${tab[0].toUpperCase()}${tab.slice(1)} · Headway`;
    if (push) to.remember(true);
    const built = await load(tab);
    if (current === tab) await built?.enter?.();
    return built;
  }

  for (const button of buttons) {
    button.addEventListener("click", () => open(button.dataset.tab, true));
    button.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const next = buttons[(buttons.indexOf(button) + by + buttons.length) % buttons.length];
      next.focus();
      open(next.dataset.tab, true);
    });
  }

  return {
    open,
    current: () => current,
    withNetwork: async (name, text) => (await open("networks", true)).openFile(name, text),
    withTable: async (name, bytes) => (await open("explore", true)).openTable(name, bytes),
  };
}
