// The first ten seconds, told once and by itself: a pile becomes a circle, everything
// is scrambled, it becomes a circle again. A click or a key ends it.

import { h, plural, reducedMotion } from "./dom.js";
import { ROOT } from "./place.js";

const SEEN = "headway-story";

/** What else tokens that keep apart could be; the ring shows them as such. */
const LIKENESSES = {
  buses: "Buses bunch: one falls behind, finds more people waiting, and the next catches up. Here every stop holds a bus back a little, and the gaps come back.",
  trains: "Trains keep a block of track free behind them. Here d processes are the block, and no signal box is needed.",
  restarts: "Servers that share data must not restart together. A token is the permission to restart; neighbours on the ring never have one at the same time.",
};

const wait = (milliseconds) => new Promise((next) => setTimeout(next, milliseconds));

/** Whether it should be told: to who comes for the first time, to the page itself. */
export function isNew(location) {
  try {
    return location.pathname.replace(/index\.html$/, "") === ROOT && !location.search && !location.hash && !localStorage.getItem(SEEN);
  } catch {
    return false;
  }
}

/**
 * @param {HTMLElement} box
 * @param {import("./player.js").Player} player
 * @param {() => void} begin  shows the first ring again, for the reader's own hands
 * @param {(name: string | undefined) => void} dress  draws tokens as what they are like
 */
export async function tell(box, player, begin, dress) {
  try {
    localStorage.setItem(SEEN, "told");
  } catch {
    // Told again next time.
  }
  let over = false;
  const words = h("p", { "aria-live": "polite" });
  const turn = h("button", { class: "primary", type: "button" }, "Your turn");
  const likeness = h("p", { class: "likeness" });
  const choices = h("div", { class: "choices wrap", role: "group", "aria-label": "It is like", hidden: true }, ...Object.entries(LIKENESSES).map(([name, text]) => h("button", {
    type: "button", "aria-pressed": "false", onclick: async (event) => {
      for (const other of choices.children) other.setAttribute("aria-pressed", String(other === event.currentTarget));
      likeness.replaceChildren(text);
      dress(name);
      // Seen again from the scramble on.
      player.seek(player.segments[player.segments.length - 1].from);
      if (!reducedMotion.matches) player.play();
    },
  }, name)));
  box.replaceChildren(words, h("div", { class: "story-line" }, choices, turn), likeness);
  box.hidden = false;
  const end = (event) => {
    // A finger on the box, also on its button, is not over yet.
    if (over || (event && box.contains(event.target))) return;
    over = true;
    box.hidden = true;
    for (const name of ["pointerdown", "keydown", "wheel"]) removeEventListener(name, end, true);
    player.pause();
    dress(undefined);
    if (!event) begin();
  };
  for (const name of ["pointerdown", "keydown", "wheel"]) addEventListener(name, end, { capture: true, passive: true });
  turn.addEventListener("click", () => end(null));
  const say = (text) => words.replaceChildren(text);
  const legitimate = async () => {
    for (let tries = 0; !over && tries < 200 && !player.frame?.legitimate; tries += 1) await wait(100);
    await wait(500);
  };

  const { run } = player;
  const worst = run.segments[0].worst_legitimate_at;
  const promise = `Break it any way you like. It repairs itself within ${plural(worst, "round")}, and that is proved.`;
  if (!reducedMotion.matches) {
    say(`${run.tokens} tokens travel round a ring and should keep ${run.separation} hops apart. Somebody has piled them up.`);
    await wait(1800);
    if (over) return;
    player.setSpeed(12);
    player.play();
    say("Nobody is in charge. Every process only counts a few rounds before it lets the next one go.");
    await legitimate();
    if (over) return;
    say("Evenly spaced, by themselves. Now scramble everything.");
    await wait(1300);
    if (over) return;
    await player.fault("scramble").catch(() => {});
    player.play();
    await legitimate();
    if (over) return;
  }
  say(promise);
  choices.hidden = false;
}
