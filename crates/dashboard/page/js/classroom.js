// A class: one presents, the others follow by a code on the screen, guess how long it will
// take when they are asked, and see what all of them guessed.

import * as api from "./api.js";
import { count, h, keep, plural, s, toast } from "./dom.js";
import { qr } from "./qr.js";

/** A text as a code to be scanned. */
export function code(text) {
  const rows = qr(text);
  if (!rows) return h("p", {}, "This link is too long for a code.");
  const side = rows.length + 8;
  const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
  return s("svg", { viewBox: `0 0 ${side} ${side}`, class: "code", role: "img", "aria-label": "The link as a QR code" },
    s("rect", { width: side, height: side, fill: "#fff" }), s("path", { d: path, fill: "#000", "shape-rendering": "crispEdges" }));
}

/** Whether only this machine reaches an address. */
export const onlyHere = (hostname) => hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);

const WHO = "headway-who";

export class Classroom {
  /**
   * @param {{bar: HTMLElement, button: HTMLButtonElement, dialog: HTMLDialogElement, picture: HTMLElement, link: HTMLElement}} parts
   * @param {import("./player.js").Player} player
   * @param {import("./together.js").Together} together
   * @param {() => string} link  to what is shared
   */
  constructor(parts, player, together, link) {
    this.parts = parts;
    this.player = player;
    this.together = together;
    this.link = link;
    this.guessed = "";
    this.shown = "";
    parts.button.addEventListener("click", () => (together.class && !together.following ? this.showCode() : this.present()));
  }

  get who() {
    return keep(WHO) ?? keep(WHO, Math.random().toString(36).slice(2));
  }

  async present() {
    const { player, together } = this;
    if (!player.run) return;
    try {
      await together.present();
      this.showCode();
    } catch (error) {
      toast(error.message, "error");
    }
  }

  async showCode() {
    const { address } = await api.about().catch(() => ({ address: null }));
    const here = this.link();
    const alone = onlyHere(location.hostname);
    // Phones cannot go where this machine goes to find itself.
    const link = alone && address ? here.replace(location.origin, address) : here;
    const command = `headway serve --listen 0.0.0.0:${location.port || 80} --secret-file secret`;
    this.parts.picture.replaceChildren(...(alone && !address ? [
      h("p", {}, "No phone reaches this address: it is that of this machine alone. To let phones in, write 16 letters or more that nobody guesses into a file, start"),
      h("pre", {}, command), h("p", {}, "and press Present again. Windows of this machine can follow here:"),
    ] : [code(link)]));
    this.parts.link.replaceChildren(link);
    this.parts.dialog.showModal();
  }

  /** The bar: what the class is at, and whether the server is there. */
  show() {
    const { bar } = this.parts;
    const { together } = this;
    const { id, away, class: seen, following } = together;
    const what = JSON.stringify([seen, id, following, away]);
    if (what === this.shown) return;
    this.shown = what;
    bar.hidden = !seen && !away;
    bar.classList.toggle("bad", away || (following && seen.left));
    // Nobody guesses what the page already says.
    document.body.classList.toggle("predicting", Boolean(seen?.open));
    const { open, guessed, guesses } = seen ?? {};
    const said = open ? `${plural(guessed, "guess")} so far` : "";
    const parts = !seen ? [] : following ? this.seat(open, seen.left) : this.desk(open, said);
    bar.replaceChildren(...(away ? [h("b", { role: "alert" }, "headway serve does not answer; nothing is shared until it does.")] : parts),
      ...(away || following ? [h("button", { type: "button", onclick: () => together.leave() }, "Go on by yourself")] : []),
      ...(guesses?.length && !away ? [this.picture(guesses)] : []));
  }

  desk(open, said) {
    const ask = async (wanted) => {
      try {
        this.together.teach((await api.question(this.together.id, wanted)).class);
        if (wanted) this.player.pause();
        else this.player.play();
      } catch (error) {
        toast(error.message, "error");
      }
    };
    return [
      h("b", {}, "You present."),
      h("button", { type: "button", onclick: () => this.showCode() }, "Show the code"),
      open ? h("button", { type: "button", class: "primary", onclick: () => ask(false) }, "No more guesses: play")
        : h("button", { type: "button", onclick: () => ask(true) }, "Ask: how many rounds?"),
      h("span", { role: "status" }, said),
    ];
  }

  seat(open, left) {
    if (left) return [h("b", { role: "alert" }, "The presenter has left; nobody steers.")];
    if (!open) return [h("span", {}, "You follow a presentation; only the presenter steers.")];
    const field = h("input", { type: "number", min: "0", max: "1000000", inputmode: "numeric", value: this.guessed, id: "guess" });
    const send = async (event) => {
      event.preventDefault();
      if (field.value === "") return;
      try {
        this.guessed = field.value;
        await api.guess(this.together.id, this.who, Number(field.value));
        toast(`You guess ${plural(Number(field.value), "round")}. You can still change your mind.`);
      } catch (error) {
        toast(error.message, "error");
      }
    };
    return [h("form", { onsubmit: send }, h("label", { for: "guess" }, "How many rounds until it is legitimate? "), field, " ", h("button", { class: "primary" }, "Guess"))];
  }

  /** Everyone's guesses, and how it is. */
  picture(guesses) {
    const { segments } = this.player;
    const segment = segments[segments.length - 1];
    const truth = segment.legitimate_at === null ? null : segment.legitimate_at - segment.from;
    const most = Math.max(truth ?? 0, ...guesses.map(([rounds]) => rounds), 1);
    const x = (rounds) => 10 + (rounds / most) * 280;
    const dots = guesses.flatMap(([rounds, number]) => Array.from({ length: Math.min(number, 6) }, (_, i) => s("circle", { cx: x(rounds).toFixed(1), cy: 40 - 7 * i, r: 3.2, class: "dot" })));
    const all = guesses.reduce((sum, [, number]) => sum + number, 0);
    const right = truth === null ? 0 : guesses.find(([rounds]) => rounds === truth)?.[1] ?? 0;
    const words = truth === null ? `${plural(all, "guess")}; it never becomes legitimate.` : `${plural(all, "guess")}; it is ${plural(truth, "round")}. ${right ? `${plural(right, "guess")} right.` : "Nobody was right."}`;
    return h("div", { class: "guesses" }, h("span", {}, words), s("svg", { width: 300, height: 58, role: "img", "aria-label": `The guesses: ${guesses.map(([rounds, number]) => `${rounds} (${number} times)`).join(", ")}` },
      s("line", { x1: 6, x2: 294, y1: 45, y2: 45, class: "ground" }),
      ...(truth === null ? [] : [s("line", { x1: x(truth), x2: x(truth), y1: 2, y2: 48, class: "wall" })]),
      s("text", { x: 6, y: 57 }, "0"), s("text", { x: 294, y: 57, "text-anchor": "end" }, count(most)), ...dots));
  }
}
