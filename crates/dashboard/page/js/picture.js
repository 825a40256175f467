// One picture of what is on show, for files and films: the ring, space and time
// beside it, and a line that says what it is.

import { count, measures } from "./dom.js";
import { palette } from "./palette.js";
import { drawMoving, drawStill, layout } from "./ring.js";
import { drawSpacetime } from "./spacetime.js";

export const WIDTH = 1280;
export const HEIGHT = 720;
const HEAD = 52;
const FOOT = 30;
const RING = 640;

/**
 * @param {any} ctx  a canvas's context or an SvgContext
 * @param {import("./player.js").Player} player
 * @param {number} round @param {number} phase
 * @returns {boolean} false while the film for it is on its way
 */
export function drawPicture(ctx, player, round, phase) {
  const film = player.filmAt(round);
  if (!film) return false;
  const colours = palette();
  const moment = film.moment(round, phase);
  ctx.fillStyle = colours.ground;
  ctx.fillRect(0, 0, WIDTH, HEIGHT);
  drawHead(ctx, player, film, round, colours);
  ctx.save();
  ctx.translate(0, HEAD);
  const where = layout(RING, HEIGHT - HEAD - FOOT, moment.n, moment.m);
  drawStill(ctx, where, moment.delays, colours);
  drawMoving(ctx, where, moment, colours);
  drawCentre(ctx, where, moment, player, colours);
  ctx.restore();
  ctx.save();
  ctx.translate(RING, HEAD + 10);
  const box = { width: WIDTH - RING - 20, height: HEIGHT - HEAD - FOOT - 20 };
  const now = round + phase;
  const segment = player.segments[player.segmentAt(round)];
  const end = segment.worst_legitimate_at ?? round + 30;
  const rounds = Math.max(24, Math.min(400, 3 * moment.n, (end - segment.from) * 1.35));
  const first = Math.max(0, now - rounds * 0.6);
  drawSpacetime(ctx, box, { first, perRound: (box.height - 26) / rounds, process: 0, across: moment.n }, {
    n: moment.n, films: player.filmsBetween(first, first + rounds), now, delays: moment.delays,
    faults: player.segments.slice(1).map((later) => later.from), colours,
  });
  ctx.restore();
  drawFoot(ctx, segment, colours);
  return true;
}

/** What it shows, in a line. */
export function caption(player, round) {
  const { run } = player;
  const apart = measures(run.program) ? "" : `, ${run.separation} apart`;
  return `${run.tokens} tokens on a ring of ${run.processes}${apart}; round ${count(round)}`;
}

function drawHead(ctx, player, film, round, colours) {
  const good = film.legitimate.some(([from, to]) => from <= round && round <= to);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.font = "600 19px system-ui, sans-serif";
  ctx.fillStyle = colours.ink;
  ctx.fillText(caption(player, round), 24, HEAD / 2 + 4);
  ctx.textAlign = "right";
  ctx.fillStyle = good ? colours.good : colours.bad;
  ctx.fillText(good ? "legitimate" : "not legitimate", WIDTH - 28, HEAD / 2 + 4);
}

/** What is claimed, and where to see it move. */
function drawFoot(ctx, segment, colours) {
  const { worst_legitimate_at: worst, from } = segment;
  const claim = worst === null || worst === undefined ? "" : `From any state, legitimate within ${count(worst - from)} rounds: proved. `;
  const home = /^(127\.|localhost|\[::1\])/.test(location.host) ? "headway serve: " : location.host;
  const link = `${home}${location.pathname}${location.search}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.font = "13px system-ui, sans-serif";
  ctx.fillStyle = colours.muted;
  ctx.fillText(claim + (link.length > 130 ? `${link.slice(0, 129)}…` : link), 24, HEIGHT - FOOT / 2 - 4);
}

function drawCentre(ctx, where, moment, player, colours) {
  if (moment.m < 2) return;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = moment.closest < player.d ? colours.bad : colours.ink;
  ctx.font = "300 54px system-ui, sans-serif";
  ctx.fillText(count(moment.closest), where.x, where.y - 8);
  ctx.font = "14px system-ui, sans-serif";
  ctx.fillStyle = colours.muted;
  ctx.fillText("closest, in hops", where.x, where.y + 30);
}
