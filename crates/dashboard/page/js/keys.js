// Keys that work everywhere on the page, and the list of them.

import { byId } from "./dom.js";

/** @param {Object<string, any>} to what they do */
export function keys(to) {
  const dialog = byId("keys-dialog");
  byId("keys").addEventListener("click", () => dialog.showModal());

  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName) && /** @type {any} */ (target).type !== "range") return;
    const onButton = target.tagName === "BUTTON" || target.tagName === "A";
    const everywhere = {
      "?": () => dialog.showModal(),
      d: to.theme, D: to.theme,
      1: () => to.tab(0), 2: () => to.tab(1), 3: () => to.tab(2), 4: () => to.tab(3), 5: () => to.tab(4),
    };
    const onRing = {
      " ": onButton ? undefined : to.play,
      ",": to.back, ".": to.forward, Home: to.restart,
      j: to.jump, J: to.jump, "+": to.faster, "=": to.faster, "-": to.slower,
      x: to.scramble, X: to.scramble, z: to.undo, Z: to.undo, p: to.pile, P: to.pile,
    };
    const work = everywhere[event.key] ?? (to.onRing() ? onRing[event.key] : undefined);
    if (!work) return;
    event.preventDefault();
    work();
  });
}
