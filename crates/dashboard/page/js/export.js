// Pictures, states and films as files.

import * as api from "./api.js";
import { Gif } from "./gif.js";
import { HEIGHT, WIDTH, caption, drawPicture } from "./picture.js";
import { SvgContext } from "./svgcontext.js";
import { palette } from "./palette.js";

const FRAMES_A_SECOND = 25;

/** Whether this browser can film as WebM. */
export function canFilmWebm() {
  return typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported("video/webm");
}

/**
 * Makes a file of what is on show.
 * @param {"svg" | "png" | "json" | "webm" | "gif"} kind
 * @param {import("./player.js").Player} player
 * @param {{rounds: number, progress: (text: string) => void}} options for films
 * @returns {Promise<{name: string, blob: Blob}>}
 */
export async function makeFile(kind, player, options) {
  const name = `headway-n${player.n}-m${player.run.tokens}-round${player.round}.${kind}`;
  const blob = await {
    svg: () => svg(player),
    png: () => png(player),
    json: () => json(player),
    webm: () => webm(player, options),
    gif: () => gif(player, options),
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
  const { canvas, context } = sheet(2);
  await drawn(() => drawPicture(context, player, player.round, player.phase));
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture could not be made"))), "image/png"));
}

async function json(player) {
  const state = await api.stateAt(player.run.id, player.round);
  return new Blob([`${JSON.stringify(state, null, 2)}\n`], { type: "application/json" });
}

/** Films in real time, because that is how a browser records. */
async function webm(player, { rounds, progress }) {
  if (!canFilmWebm()) throw new Error("this browser cannot record WebM; take GIF");
  const { canvas, context } = sheet(1);
  // Frames are handed over one by one: a canvas that is not on the page is not
  // watched by every browser.
  const stream = canvas.captureStream(0);
  const track = /** @type {any} */ (stream.getVideoTracks()[0]);
  const handOver = () => (track.requestFrame ? track.requestFrame() : /** @type {any} */ (stream).requestFrame());
  // VP8 is the one that a busy machine encodes in time.
  const mimeType = MediaRecorder.isTypeSupported("video/webm;codecs=vp8") ? "video/webm;codecs=vp8" : "video/webm";
  const recorder = new MediaRecorder(stream, { mimeType, videoBitsPerSecond: 4_000_000 });
  /** @type {Blob[]} */
  const parts = [];
  let recorded = 0;
  recorder.ondataavailable = (event) => {
    parts.push(event.data);
    recorded += event.data.size;
  };
  const stopped = new Promise((done) => (recorder.onstop = done));
  const from = player.round;
  await drawn(() => drawPicture(context, player, from, 0));
  recorder.start(100);
  const began = performance.now();
  const show = async (time) => {
    drawPicture(context, player, from + Math.floor(time), time % 1);
    handOver();
    await new Promise((next) => setTimeout(next, 1000 / FRAMES_A_SECOND));
  };
  // A recorder that has just begun drops what comes before it is ready: the first
  // picture stays until it is, and the last until it has been taken.
  progress("filming begins");
  for (const begun = performance.now(); recorded < 100 && performance.now() - begun < 10000;) await show(0);
  const seconds = rounds / player.speed;
  for (const begun = performance.now(); performance.now() - begun < 1000 * seconds;) {
    const time = Math.min(rounds, ((performance.now() - begun) / 1000) * player.speed);
    progress(`filming: round ${from + Math.floor(time)} of ${from + rounds}`);
    await show(time);
  }
  for (let frame = 0; frame < FRAMES_A_SECOND / 2; frame += 1) await show(rounds);
  recorder.stop();
  await stopped;
  progress("");
  if (recorded === 0) throw new Error("the browser recorded nothing; take GIF");
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return new Blob([withDuration(bytes, performance.now() - began)], { type: "video/webm" });
}

/**
 * A recording with its length in it: browsers leave that out, and then no player
 * can seek. The element Duration goes at the end of the element Info; what comes after
 * has no fixed place (the recording is written as a stream).
 * @param {Uint8Array} bytes @param {number} milliseconds
 */
export function withDuration(bytes, milliseconds) {
  const INFO = [0x15, 0x49, 0xa9, 0x66];
  const at = bytes.subarray(0, 1024).findIndex((_, place) => INFO.every((byte, index) => bytes[place + index] === byte));
  if (at < 0) return bytes;
  const sized = at + INFO.length;
  // A size says by its leading zeros how many bytes it has.
  const long = Math.clz32(bytes[sized]) - 23;
  let size = bytes[sized] & (0xff >> long);
  for (let index = 1; index < long; index += 1) size = size * 256 + bytes[sized + index];
  const end = sized + long + size;
  if (end > bytes.length) return bytes;
  const head = new DataView(new ArrayBuffer(8));
  head.setUint32(0, 0x01000000);
  head.setUint32(4, size + 11);
  const duration = new DataView(new ArrayBuffer(11));
  duration.setUint16(0, 0x4489);
  duration.setUint8(2, 0x88);
  duration.setFloat64(3, milliseconds);
  const pieces = [bytes.subarray(0, sized), new Uint8Array(head.buffer), bytes.subarray(sized + long, end), new Uint8Array(duration.buffer), bytes.subarray(end)];
  const whole = new Uint8Array(bytes.length + 8 - long + 11);
  let written = 0;
  for (const piece of pieces) {
    whole.set(piece, written);
    written += piece.length;
  }
  return whole;
}

async function gif(player, { rounds, progress }) {
  const width = WIDTH / 2;
  const height = HEIGHT / 2;
  const { context } = sheet(0.5);
  const frames = Math.max(2, Math.min(500, Math.ceil((rounds / player.speed) * 20)));
  const film = new Gif(width, height, 5);
  const from = player.round;
  for (let frame = 0; frame < frames; frame += 1) {
    const time = (frame / frames) * rounds;
    await drawn(() => drawPicture(context, player, from + Math.floor(time), time % 1));
    film.add(context.getImageData(0, 0, width, height).data);
    progress(`filming: frame ${frame + 1} of ${frames}`);
    await new Promise((next) => setTimeout(next, 0));
  }
  progress("");
  return new Blob([film.end()], { type: "image/gif" });
}

function sheet(scale) {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH * scale;
  canvas.height = HEIGHT * scale;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: scale < 1 }));
  context.scale(scale, scale);
  return { canvas, context };
}

/** Tries again until what has to be drawn has arrived. */
async function drawn(draw) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (draw()) return;
    await new Promise((next) => setTimeout(next, 25));
  }
  throw new Error("the rounds to draw did not arrive");
}
