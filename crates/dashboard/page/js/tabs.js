// The tabs. All but the ring are loaded when first opened.

import { all, byId } from "./dom.js";
import { TABS } from "./url.js";

/**
 * @param {import("./url.js").View} view
 * @param {{remember: (push?: boolean) => void, showOnRing: (settings: any) => void, leaveRing: () => void}} to
 */
export function tabs(view, to) {
  /** @type {Object<string, Promise<any>>} */
  const loaded = {};
  const buttons = all("[role=tab]");
  let current = "ring";

  const load = (name) => {
    if (name === "ring") return Promise.resolve(null);
    loaded[name] ??= import(`./${name}.js`).then((module) => module.build(byId(`panel-${name}`), view, to));
    return loaded[name];
  };

  /** Shows a tab; `push` makes it a step that the Back button undoes. */
  async function open(name, push) {
    const tab = TABS.includes(name) ? name : "ring";
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
