// Hands on the ring: dragging a token, clicking a process or a counter, selecting
// a stretch; and the same by keys.

import { letter, plural } from "./dom.js";
import { beadAt, hit } from "./ring.js";

/**
 * @param {import("./ringview.js").RingView} view
 * @param {{fault: (text: string, token?: number) => Promise<boolean>, hint: (text: string) => void, say: (text: string) => void, selected: (range: [number, number] | null) => void, focus: (process: number | null) => void}} to
 */
export function handle(view, to) {
  const { canvas, player } = view;
  /** @type {any} */
  let grip = null;

  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /** The token under a point, nearest first. */
  const tokenAt = (x, y) => {
    const { moment, where } = view;
    if (!moment || !where.single) return null;
    let best = null;
    let nearest = Math.max(10, where.bead + 4);
    for (let k = 0; k < moment.m; k += 1) {
      const [bx, by] = beadAt(where, moment, k);
      const distance = Math.hypot(bx - x, by - y);
      if (distance < nearest) {
        nearest = distance;
        best = k;
      }
    }
    return best;
  };

  /** Stands still at a whole round, so that a fault strikes what one sees. */
  const halt = () => {
    const playing = player.playing;
    player.pause();
    player.seek(player.phase > 0.5 ? player.round + 1 : player.round);
    return playing;
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (!view.moment || event.button > 0 || player.led) return;
    const [x, y] = point(event);
    const token = tokenAt(x, y);
    const at = hit(view.where, x, y);
    canvas.setPointerCapture(event.pointerId);
    if (token !== null) {
      const from = Math.round(view.moment.hop[token]) % view.moment.n;
      const playing = halt();
      grip = { kind: "token", token, from, to: from, playing, x, y, moved: false };
    } else if (at.part === "outside") {
      grip = { kind: "select", first: at.process, last: at.process, turned: 0 };
    } else {
      grip = { kind: at.part, at };
    }
  });

  // A finger on a token or outside the ring drags; elsewhere it scrolls the page.
  canvas.addEventListener("touchstart", (event) => {
    if (!view.moment || event.touches.length > 1) return;
    const [x, y] = point(event.touches[0]);
    if (player.led) return;
    if (tokenAt(x, y) !== null || hit(view.where, x, y).part === "outside") event.preventDefault();
  }, { passive: false });

  canvas.addEventListener("pointermove", (event) => {
    if (!view.moment) return;
    const [x, y] = point(event);
    const at = hit(view.where, x, y);
    if (!grip) {
      describe(tokenAt(x, y), at);
      to.focus(at.part === "ground" ? null : at.process);
      return;
    }
    if (grip.kind === "token") {
      grip.moved ||= Math.hypot(x - grip.x, y - grip.y) > 4;
      grip.to = at.process;
      view.marks.lifted = { token: grip.token, hop: at.process };
      to.hint(`move token ${letter(grip.token)} from process ${grip.from} to ${at.process}`);
      player.wake();
    } else if (grip.kind === "select") {
      grip.turned += shortest(at.process - grip.last, player.n);
      grip.last = at.process;
      const range = grip.turned >= 0 ? [grip.first, at.process] : [at.process, grip.first];
      select(/** @type {[number, number]} */ (range));
    }
  });

  canvas.addEventListener("pointerup", (event) => {
    const done = grip;
    grip = null;
    if (!done || !view.moment) return;
    const [x, y] = point(event);
    const at = hit(view.where, x, y);
    if (done.kind === "token") {
      view.marks.lifted = null;
      player.wake();
      if (done.moved && done.to !== done.from) to.fault(`move:${done.from}:${done.to}`, done.token);
      if (done.playing) player.play();
    } else if (done.kind === "select") {
      if (done.turned === 0) select(null);
    } else if (done.kind === "process" && at.part === "process" && at.process === done.at.process) {
      toggle(at.process);
    } else if (done.kind === "counter" && at.part === "counter" && at.process === done.at.process) {
      setCounter(at.process, counterAt(at));
    } else if (done.kind === "ground") {
      select(null);
    }
  });

  canvas.addEventListener("pointercancel", () => {
    grip = null;
    view.marks.lifted = null;
    player.wake();
  });

  canvas.addEventListener("pointerleave", () => {
    if (grip) return;
    to.hint("");
    to.focus(null);
  });

  /** Which process runs what, from the segment on show. */
  const kind = (process) => player.segments[player.segmentAt()].kinds[process];

  const top = () => Math.max(0, view.moment?.top ?? player.d - 1);

  /** The deeper the click, the larger the counter. */
  const counterAt = (at) => Math.round(at.depth * top());

  function toggle(process) {
    const now = kind(process);
    if (now >= 2) {
      to.hint(now === 3 ? "every process runs the moving block" : `process ${process} measures the ring; it cannot be changed`);
      return;
    }
    const playing = halt();
    after(process, to.fault(`program:${process}:${now ? "relay" : "delay"}`));
    if (playing) player.play();
  }

  function setCounter(process, value) {
    if (kind(process) !== 1) {
      to.hint(kind(process) === 3 ? "a moving block has no counters" : `process ${process} is a relay: it has no counter`);
      return;
    }
    const playing = halt();
    after(process, to.fault(`counter:${process}:${value}`));
    if (playing) player.play();
  }

  function select(range) {
    view.marks.selection = range;
    to.selected(range);
    player.wake();
  }

  function describe(token, at) {
    if (player.led) return to.hint("only the presenter steers");
    const program = ["a relay", "a delay", "measures", "moving block"][kind(at.process)];
    const block = kind(at.process) === 3;
    let text = "";
    let cursor = "default";
    if (token !== null) {
      const rests = !view.moment.resting[token] ? "at" : block ? "waits at" : "rests at";
      text = `token ${letter(token)} ${rests} process ${Math.floor(view.moment.hop[token])}${block ? "" : ": drag it elsewhere"}`;
      cursor = block ? "default" : "grab";
    } else if (at.part === "process") {
      const action = kind(at.process) >= 2 ? "" : `: click makes it a ${kind(at.process) ? "relay" : "delay"}`;
      text = `process ${at.process}, ${program}${action}`;
      cursor = "pointer";
    } else if (at.part === "counter" && kind(at.process) === 1) {
      const now = Math.ceil(view.moment.counter?.[at.process] ?? 0);
      text = `counter of process ${at.process} is ${now}: click sets ${counterAt(at)}`;
      cursor = "pointer";
    } else if (at.part === "outside") {
      text = "drag along the ring to select processes";
      cursor = "crosshair";
    }
    canvas.style.cursor = cursor;
    to.hint(text);
  }

  // ---- keys

  let carried = null;

  canvas.addEventListener("keydown", (event) => {
    // A key may come before the first picture of a film that is there.
    view.moment ??= player.moment();
    if (!view.moment || event.ctrlKey || event.metaKey || event.altKey) return;
    const { marks } = view;
    const { n } = player;
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: Math.ceil(n / 12), PageUp: -Math.ceil(n / 12) }[event.key];
    if (by) {
      const before = marks.cursor ?? 0;
      const now = marks.cursor === null ? 0 : (before + by + n) % n;
      marks.cursor = now;
      to.focus(now);
      if (event.shiftKey) {
        const [first, last] = marks.selection ?? [before, before];
        select(by > 0 ? [first, now] : [now, last]);
      }
      if (carried) marks.lifted = { token: carried.token, hop: now };
      tell(now);
    } else if (marks.cursor === null) {
      return;
    } else if (event.key === "Enter") {
      toggle(marks.cursor);
    } else if (event.key === "c" || event.key === "C") {
      const now = Math.ceil(view.moment.counter?.[marks.cursor] ?? 0);
      setCounter(marks.cursor, (now + 1) % (top() + 1));
    } else if (event.key === "m" || event.key === "M") {
      carry();
    } else if (event.key === "Escape") {
      carried = null;
      marks.lifted = null;
      select(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    player.wake();
  });

  canvas.addEventListener("blur", () => {
    carried = null;
    Object.assign(view.marks, { cursor: null, lifted: null });
    player.wake();
  });

  function carry() {
    const here = view.marks.cursor;
    if (carried) {
      const { token, from } = carried;
      carried = null;
      view.marks.lifted = null;
      const put = `token ${letter(token)} is at process ${here}`;
      if (from === here) to.say(put);
      else to.fault(`move:${from}:${here}`, token).then((done) => to.say(done ? put : `token ${letter(token)} stays at process ${from}`));
      return;
    }
    halt();
    player.moment();
    const found = tokensAt(here);
    if (found.length === 0) to.say(`no token at process ${here}`);
    else {
      carried = { token: found[found.length - 1], from: here };
      view.marks.lifted = { token: carried.token, hop: here };
      to.say(`token ${letter(carried.token)} picked up at process ${here}`);
    }
  }

  /** Says what has become of the chosen process, once that is known, unless the keys have gone on. */
  async function after(process, change) {
    await change;
    if (view.marks.cursor !== process || carried) return;
    const moment = player.moment();
    if (moment) {
      view.moment = moment;
      tell(process);
    } else setTimeout(() => after(process), 50);
  }

  function tokensAt(process) {
    const { moment } = view;
    const found = [];
    for (let k = 0; k < moment.m; k += 1) if (Math.floor(moment.hop[k]) === process) found.push(k);
    return found;
  }

  function tell(process) {
    const { moment } = view;
    const found = tokensAt(process);
    const resting = found.filter((k) => moment.resting[k]).length;
    const program = ["relay", "delay", "measures", "moving block"][kind(process)];
    const counter = kind(process) && moment.counter ? `, counter ${Math.ceil(moment.counter[process])}` : "";
    const tokens = found.length ? `, ${plural(found.length, "token")}${resting ? `, ${resting} resting` : ""}` : "";
    const text = `process ${process}, ${program}${counter}${tokens}`;
    to.hint(text);
    to.say(text);
  }
}

function shortest(difference, n) {
  const rest = ((difference % n) + n) % n;
  return rest > n / 2 ? rest - n : rest;
}
