// Pictures, states and films as files.

import * as api from "./api.js";
import { HEIGHT, WIDTH, caption, drawPicture } from "./picture.js";
import { SvgContext } from "./svgcontext.js";
import { palette } from "./palette.js";

/**
 * Makes a file of what is on show.
 * @param {"svg" | "png" | "json" | "film"} kind
 * @param {import("./player.js").Player} player
 * @param {{rounds: number}} options for films
 * @returns {Promise<{name: string, blob: Blob}>}
 */
export async function makeFile(kind, player, options) {
  const name = `headway-n${player.n}-m${player.run.tokens}-round${player.round}.${kind === "film" ? "svg" : kind}`;
  const blob = await {
    svg: () => svg(player),
    png: () => png(player),
    json: () => json(player),
    film: () => film(player, options),
  }[kind]();
  return { name, blob };
}

/** Hands a file to the reader. */
export function save({ name, blob }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function svg(player) {
  const context = new SvgContext(WIDTH, HEIGHT, palette().ground);
  await drawn(() => drawPicture(context, player, player.round, player.phase));
  return new Blob([context.text(caption(player, player.round))], { type: "image/svg+xml" });
}

async function png(player) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * WIDTH, height: 2 * HEIGHT });
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  await drawn(() => drawPicture(context, player, player.round, player.phase));
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture could not be made"))), "image/png"));
}

async function json(player) {
  const state = await api.stateAt(player.run.id, player.round);
  return new Blob([`${JSON.stringify(state, null, 2)}\n`], { type: "application/json" });
}

/** As the server, or the program beside the page, draws it: it moves by itself. */
async function film(player, { rounds }) {
  return new Blob([await api.film(player.run.id, player.round, rounds)], { type: "image/svg+xml" });
}

/** Tries again until what has to be drawn has arrived. */
async function drawn(draw) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (draw()) return;
    await new Promise((next) => setTimeout(next, 25));
  }
  throw new Error("the rounds to draw did not arrive");
}
