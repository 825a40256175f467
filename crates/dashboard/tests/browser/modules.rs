//! Modules without a picture, tried out where they run: in the browser.

use crate::cdp::Browser;
use crate::page::{DESKTOP, Page};

type Done = Result<(), String>;

/// Each is a body of an asynchronous function that throws when something is wrong.
const CHECKS: &[(&str, &str)] = &[
    (
        "a link says what it was made from",
        r#"
        const url = await import('/js/url.js');
        let state = 12345;
        const random = (below) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
        for (let tries = 0; tries < 500; tries += 1) {
          const tab = url.TABS[random(5)];
          const onRing = tab === 'ring';
          const own = { explore: { processes: 2 + random(99), tokens: 3, separation: 1 + random(9), seed: random(9), x: 'delays', y: '', by: '' },
            networks: { network: 'grid:4x5', tokens: random(9), seed: 2009 }, lessons: { step: 1 + random(8) }, fleet: {} }[tab];
          const view = {
            tab, round: onRing && random(2) ? random(1e9) * 1000 : 0, speed: onRing ? [6, 0.5, 12, 1000][random(4)] : 6,
            settings: onRing ? { ...url.FIRST, processes: 2 + random(9999), tokens: 1 + random(50), separation: 1 + random(50), seed: random(1e6),
              start: ['piled', 'random', 'spaced', 'worst'][random(4)], delays: ['all', 'every:3', 'at:0,5,9', '7'][random(4)] } : { ...url.FIRST },
            faults: onRing ? ['move:3:7#2@12', 'scramble:3,5-8@30', 'counter:2:4@31', 'scramble:25%@40'].slice(0, random(5)) : [],
            own: onRing ? {} : { [tab]: own }, state: null, run: null, problems: [],
          };
          const link = new URL(url.write(view), 'http://127.0.0.1');
          same(url.read(link), view);
          if (url.write(url.read(link)) !== url.write(view)) throw new Error('not the same link again');
        }"#,
    ),
    (
        "numbers as people write them",
        r#"
        const { wholeNumber } = await import('/js/url.js');
        same(['12', '1e12', '10^12', '1 000 000', '1,000', '0'].map(wholeNumber), [12, 1e12, 1e12, 1e6, 1000, 0]);
        same(['', '-1', '1.5', 'x', '1e300', null].map(wholeNumber), [null, null, null, null, null, null]);"#,
    ),
    (
        "a state file goes through a link",
        r#"
        const url = await import('/js/url.js');
        const text = JSON.stringify({ separation: 3, processes: Array.from({ length: 200 }, (_, i) => ({ program: i % 3 ? 'relay' : 'delay', resting: i % 5 })) });
        same(await url.unpack(await url.pack(text)), text);
        if ((await url.pack(text)).length > 700) throw new Error('packed badly');"#,
    ),
    (
        "the bar of time goes there and back",
        r#"
        const { scale } = await import('/js/timebar.js');
        for (const [from, even] of [[0, 40], [0, 100000], [1000000, 1000400]]) {
          const bar = scale(from, even);
          for (let round = from; round <= even; round += Math.ceil((even - from) / 97)) same(bar.round(bar.place(round)), round);
          for (const far of [even * 3, 1e9, 1e12].filter((round) => round > even && round - from < 1e12)) {
            const back = bar.round(bar.place(far));
            if (Math.abs(back - far) > far * 0.06) throw new Error(`${far} came back as ${back}`);
          }
          let before = -1;
          for (let place = 0; place <= 1; place += 0.01) {
            const round = bar.round(place);
            if (round < before) throw new Error('time runs backwards');
            before = round;
          }
        }"#,
    ),
    (
        "a way is where it should be",
        r#"
        const { Way } = await import('/js/film.js');
        const way = new Way({ token: 0, points: [[0, 5], [3, 8], [7, 8], [40, 41]], rests: [[3, 6, 8]] });
        same([0, 2, 3, 6, 7, 8, 40].map((round) => way.hop(round, 0)), [5, 7, 8, 8, 8, 9, 41]);
        same([2, 3, 6, 7].map((round) => way.restingAt(round)), [false, true, true, false]);
        same([2.5, 6.5, 7.5].map((time) => way.hop(Math.floor(time), 0.5)), [7.5, 8, 8.5]);
        same([3, 6, 7].map((round) => way.leaves(round)), [7, 7, 7]);
        const released = [];
        way.releases(1, 9, (round, hop) => released.push([round, hop]));
        same(released.sort((a, b) => a[0] - b[0]), [[1, 6], [2, 7], [7, 8], [8, 9], [9, 10]]);"#,
    ),
    (
        "ticks are round and within",
        r#"
        const { ticks } = await import('/js/chart.js');
        for (const [low, high] of [[0, 1], [3, 977], [0, 0.0371], [-5, 5]]) {
          const found = ticks(low, high, 5);
          if (found.length < 3 || found.length > 11 || found.some((tick) => tick < low - 1e-9 || tick > high * (1 + 1e-9))) throw new Error(`${low} to ${high}: ${found}`);
        }"#,
    ),
    (
        "a GIF is what browsers read",
        r#"
        const { Gif } = await import('/js/gif.js');
        const [width, height] = [64, 48];
        const film = new Gif(width, height, 5);
        const shades = [[255, 255, 255], [200, 30, 30], [30, 30, 200], [0, 0, 0]];
        let last = null;
        for (let frame = 0; frame < 3; frame += 1) {
          const pixels = new Uint8ClampedArray(width * height * 4);
          for (let i = 0; i < width * height; i += 1) pixels.set([...shades[((i * 7 + frame * 13) ^ (i >> 3)) & 3], 255], i * 4);
          film.add(pixels);
          last ??= pixels;
        }
        const blob = new Blob([film.end()], { type: 'image/gif' });
        const image = await createImageBitmap(blob);
        same([image.width, image.height], [width, height]);
        const canvas = new OffscreenCanvas(width, height);
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const drawn = context.getImageData(0, 0, width, height).data;
        for (let i = 0; i < drawn.length; i += 1) if (Math.abs(drawn[i] - last[i]) > 8) throw new Error(`byte ${i}: ${drawn[i]}, not ${last[i]}`);"#,
    ),
];

pub(crate) fn modules_keep_their_promises(browser: &mut Browser, base: &str) -> Done {
    let mut page = Page::open(browser, base, "/", DESKTOP)?;
    page.eval(
        "globalThis.same = (a, b) => { if (canonical(a) !== canonical(b)) throw new Error(`${JSON.stringify(a)} is not ${JSON.stringify(b)}`); }; \
         globalThis.canonical = (value) => JSON.stringify(value, (_, part) => part && typeof part === 'object' && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part); 0",
    )?;
    for (what, check) in CHECKS {
        page.eval(&format!("(async () => {{ {check} }})()"))
            .map_err(|why| {
                let last = why
                    .lines()
                    .rfind(|line| line.contains("Error"))
                    .unwrap_or(&why)
                    .to_owned();
                format!("{what}: {last}")
            })?;
    }
    page.close()
}
