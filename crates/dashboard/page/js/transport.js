// The buttons, the round and the speed beside the bar of time.

import { byId, count, setText, toast } from "./dom.js";
import { wholeNumber } from "./url.js";

/** @param {import("./player.js").Player} player @returns {() => void} lets a round be typed */
export function transport(player) {
  const playPath = { true: "M6 5h4v14H6zM14 5h4v14h-4z", false: "M7 4.5v15l13-7.5z" };
  byId("play").addEventListener("click", () => player.toggle());
  byId("back").addEventListener("click", () => player.step(-1));
  byId("forward").addEventListener("click", () => player.step(1));
  byId("restart").addEventListener("click", () => player.seek(0));

  player.on("clock", () => {
    byId("play-path").setAttribute("d", playPath[String(player.playing)]);
    byId("play").setAttribute("aria-label", player.playing ? "Pause" : "Play");
    showSpeed();
  });

  const roundField = byId("round");
  player.on("moment", () => {
    if (document.activeElement !== roundField) roundField.value = String(player.round);
    const segment = player.segments[player.segmentAt()];
    setText(byId("since"), segment.fault ? `${count(player.round - segment.from)} since the fault` : "since the start");
  });
  roundField.addEventListener("change", () => {
    const round = wholeNumber(roundField.value);
    roundField.setAttribute("aria-invalid", String(round === null));
    if (round === null) {
      toast(`${roundField.value || "nothing"} is no round: type a whole number from 0 to ${count(player.run.seekable)}, such as 120 or 10^6.`, "error");
      return;
    }
    player.pause();
    player.seek(round);
    roundField.blur();
  });

  const speedSlide = byId("speed");
  // 0.5 to 1000 rounds a second, equal steps being equal factors.
  speedSlide.addEventListener("input", () => player.setSpeed(Number((0.5 * 2000 ** (Number(speedSlide.value) / 100)).toPrecision(2))));
  function showSpeed() {
    speedSlide.value = String(Math.round((100 * Math.log(player.speed / 0.5)) / Math.log(2000)));
    setText(byId("speed-text"), `${player.speed} rounds/s`);
    speedSlide.setAttribute("aria-valuetext", `${player.speed} rounds a second`);
  }
  showSpeed();
  return () => {
    roundField.focus();
    roundField.select();
  };
}
