// Journeys in Firefox, over WebDriver BiDi: `node firefox.mjs MODULES FIREFOX BASE`, where
// MODULES is the folder with puppeteer-core. Prints a line for each; the exit code is 1 if
// one fails.

const [modules, executablePath, base] = process.argv.slice(2);
const { default: puppeteer } = await import(`file://${modules}/puppeteer-core/lib/puppeteer/puppeteer-core.js`).catch(() => import(`file://${modules}/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js`));
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });

const wait = (page, expression) => page.waitForFunction(expression, { timeout: 30_000, polling: 100 });

const journeys = {
  async a_pile_spaces_itself(page) {
    await page.goto(`${base}/?speed=40`);
    await wait(page, "globalThis.headway?.player.run && headway.ring.moment");
    await page.click("#play");
    await wait(page, "document.getElementById('verdict').textContent.startsWith('Legitimate')");
  },
  async a_fault_heals(page) {
    await page.goto(`${base}/?start=spaced&t=20`);
    await wait(page, "globalThis.headway?.player.run && headway.ring.moment");
    await page.click("#fault-scramble");
    await wait(page, "headway.player.segments.length === 2 && location.search.includes('scramble')");
    await page.evaluate("headway.player.seek(10 ** 12)");
    await wait(page, "document.getElementById('verdict').textContent.startsWith('Legitimate')");
  },
  async the_program_is_beside_the_ring(page) {
    await page.goto(`${base}/?n=12&m=3&d=4`);
    await wait(page, "document.querySelectorAll('#listing-lines li.lit').length === 3");
  },
  async every_view_opens(page) {
    for (const [path, there] of [
      ["/lessons", "document.querySelector('.lesson-stage .verdict-line')?.textContent.length > 10"],
      ["/explore", "document.querySelectorAll('#panel-explore svg.chart').length >= 2"],
      ["/networks", "document.querySelector('.network-figure .reading')?.textContent.length > 20"],
      ["/fleet", "document.getElementById('panel-fleet').textContent.includes('No nodes are watched')"],
    ]) {
      await page.goto(base + path);
      await wait(page, there);
    }
  },
  async a_state_in_a_link_is_shown(page) {
    await page.goto(`${base}/?start=random&seed=7&fault=pile:3@40&t=45`);
    await wait(page, "globalThis.headway?.player.round === 45 && headway.player.segments.length === 2");
    const packed = await page.evaluate(`import('/js/url.js').then((url) => url.pack('{"separation":2,"processes":[{"program":"delay","resting":2},{"program":"relay"},{"program":"relay"},{"program":"relay"}]}'))`);
    await page.goto(`${base}/#state=${packed}`);
    await page.reload();
    await wait(page, "globalThis.headway?.player.run?.processes === 4");
  },
};

let failed = 0;
for (const [name, journey] of Object.entries(journeys)) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.setViewport({ width: 1280, height: 800 });
  await page.evaluateOnNewDocument("try { localStorage.setItem('headway-story', 'told') } catch {}");
  try {
    await journey(page);
    if (errors.length) throw new Error(errors.join("; "));
    console.log(`test ${name} in Firefox ... ok`);
  } catch (error) {
    failed += 1;
    console.log(`test ${name} in Firefox ... FAILED\n${error}`);
  }
  await page.close().catch(() => {});
}
await browser.close();
process.exit(failed ? 1 : 0);
