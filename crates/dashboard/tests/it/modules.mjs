// Modules of the page that need no picture, tried out in Node: `node modules.mjs PAGE`, where
// PAGE is the page's folder. Each check throws when something is wrong.

import { deepStrictEqual as same, ok } from "node:assert";

// What modules ask of a browser while they are loaded.
globalThis.document = { documentElement: { dataset: {} } };
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });

const [page] = process.argv.slice(2);
const module = (name) => import(`file://${page}/js/${name}.js`);
const url = await module("url");
const { scale } = await module("timebar");
const { Way } = await module("film");
const { ticks } = await module("chart");
const { axisNumber } = await module("spacetime");

const checks = {
  "a link says what it was made from"() {
    let state = 12345;
    const random = (below) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
    for (let tries = 0; tries < 500; tries += 1) {
      const tab = url.TABS[random(5)];
      const onRing = tab === "ring";
      const own = {
        explore: { processes: 2 + random(99), tokens: 3, separation: 1 + random(9), seed: random(9), x: "delays", y: "", by: "" },
        networks: { network: "grid:4x5", tokens: random(9), seed: 2009 },
        lessons: { step: 1 + random(8) },
        fleet: {},
      }[tab];
      const view = {
        tab, round: onRing && random(2) ? random(1e9) * 1000 : 0, speed: onRing ? [6, 0.5, 12, 1000][random(4)] : 6,
        settings: onRing ? { ...url.FIRST, processes: 2 + random(9999), tokens: 1 + random(50), separation: 1 + random(50), seed: random(1e6),
          start: ["piled", "random", "spaced", "worst"][random(4)], delays: ["all", "every:3", "at:0,5,9", "7"][random(4)] } : { ...url.FIRST },
        faults: onRing ? ["move:3:7#2@12", "scramble:3,5-8@30", "counter:2:4@31", "scramble:25%@40"].slice(0, random(5)) : [],
        own: onRing ? {} : { [tab]: own }, state: null, run: null, problems: [],
      };
      const link = new URL(url.write(view), "http://127.0.0.1");
      same(url.read(link), view);
      same(url.write(url.read(link)), url.write(view));
    }
  },
  "numbers as people write them"() {
    const { wholeNumber } = url;
    same(["12", "1e12", "10^12", "1 000 000", "1,000", "0"].map(wholeNumber), [12, 1e12, 1e12, 1e6, 1000, 0]);
    same(["", "-1", "1.5", "x", "1e300", null].map(wholeNumber), [null, null, null, null, null, null]);
  },
  async "a state file goes through a link"() {
    const text = JSON.stringify({ separation: 3, processes: Array.from({ length: 200 }, (_, i) => ({ program: i % 3 ? "relay" : "delay", resting: i % 5 })) });
    const packed = await url.pack(text);
    same(await url.unpack(packed), text);
    ok(packed.length <= 700, `packed badly: ${packed.length}`);
  },
  "the bar of time goes there and back"() {
    const last = 2 ** 53 - 1;
    for (const [from, even] of [[0, 40], [0, 100000], [1000000, 1000400], [1e12, 1e12 + 40]]) {
      const bar = scale(from, even, last);
      for (let round = from; round <= even; round += Math.ceil((even - from) / 97)) same(bar.round(bar.place(round)), round);
      for (const far of [even * 3, 1e9, 1e12, from + 1e6].filter((round) => round > even && round - from < 1e12)) {
        const back = bar.round(bar.place(far));
        ok(Math.abs(back - far) <= far * 0.06, `${far} came back as ${back}`);
      }
      let before = -1;
      for (let place = 0; place <= 1; place += 0.01) {
        const round = bar.round(place);
        ok(round >= before, "time runs backwards");
        before = round;
      }
      same([bar.far, bar.place(bar.far), bar.round(1)], [from + 1e12, 1, from + 1e12]);
    }
    // It ends where the run does.
    for (const [even, end] of [[40, 5000], [4000, 5000], [6000, 5000]]) {
      const bar = scale(0, even, end);
      same([bar.far, bar.place(end), bar.round(1), bar.place(0), bar.round(0)], [end, 1, end, 0, 0]);
    }
  },
  "a way is where it should be"() {
    const way = new Way({ token: 0, points: [[0, 5], [3, 8], [7, 8], [40, 41]], rests: [[3, 6, 8]] });
    same([0, 2, 3, 6, 7, 8, 40].map((round) => way.hop(round, 0)), [5, 7, 8, 8, 8, 9, 41]);
    same([2, 3, 6, 7].map((round) => way.restingAt(round)), [false, true, true, false]);
    same([2.5, 6.5, 7.5].map((time) => way.hop(Math.floor(time), 0.5)), [7.5, 8, 8.5]);
    same([3, 6, 7].map((round) => way.leaves(round)), [7, 7, 7]);
    const released = [];
    way.releases(1, 9, (round, hop) => released.push([round, hop]));
    same(released.sort((a, b) => a[0] - b[0]), [[1, 6], [2, 7], [7, 8], [8, 9], [9, 10]]);
  },
  "numbers beside space and time fit"() {
    same([0, 9999, 99999].map(axisNumber), ["0", "9999", "99\u202f999"]);
    ok([1e5, 123456, 1e6, 1e12 + 7].every((round) => axisNumber(round).length <= 6));
  },
  "ticks are round and within"() {
    for (const [low, high] of [[0, 1], [3, 977], [0, 0.0371], [-5, 5]]) {
      const found = ticks(low, high, 5);
      ok(found.length >= 3 && found.length <= 11, `${low} to ${high}: ${found}`);
      ok(found.every((tick) => tick >= low - 1e-9 && tick <= high * (1 + 1e-9)), `${low} to ${high}: ${found}`);
    }
  },
};

for (const [what, check] of Object.entries(checks)) {
  try {
    await check();
  } catch (error) {
    console.error(`${what}: ${error.stack}`);
    process.exitCode = 1;
  }
}
