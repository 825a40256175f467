// Firefox for journeys that speak to Chromium: what they ask in the words of Chromium's
// debugging protocol is done over WebDriver BiDi, and answered in the same words.
// `node firefox.mjs MODULES FIREFOX`, where MODULES is the folder with puppeteer-core, which
// starts Firefox; messages come on descriptor 3 and go to 4, each ended by a zero byte.

import { createReadStream, readFileSync, writeSync } from "node:fs";
import { basename } from "node:path";

const [modules, executablePath] = process.argv.slice(2);
const { default: puppeteer } = await import(`file://${modules}/puppeteer-core/lib/puppeteer/puppeteer-core.js`);
// To change what the system says about colours and motion is what the argument is for.
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true, timeout: 200_000, args: ["--remote-allow-system-access"] });
const bidi = async (method, params) => (await browser.connection.send(method, params)).result;

const tell = (message) => {
  const bytes = Buffer.from(`${JSON.stringify(message)}\0`);
  for (let sent = 0; sent < bytes.length;) sent += writeSync(4, bytes, sent);
};

// ---- what the page tells without being asked

const news = (context, method, params) => tell({ sessionId: context, method, params });
browser.connection.on("log.entryAdded", ({ type, level, text, source, stackTrace }) => {
  if (level !== "error") return;
  if (type === "console") news(source.context, "Runtime.consoleAPICalled", { type: "error", args: [text] });
  else news(source.context, "Runtime.exceptionThrown", { exceptionDetails: { text, stackTrace } });
});

/** What a network that is slow or broken does: requests wait so long, some never succeed. */
const network = { latency: 0, blocked: [], intercept: null };
browser.connection.on("network.beforeRequestSent", ({ context, request: { url, request }, isBlocked }) => {
  news(context, "Network.requestWillBeSent", { request: { url } });
  if (!isBlocked) return;
  // A page may have gone meanwhile.
  const answer = (method) => bidi(method, { request }).catch(() => {});
  if (network.blocked.some((part) => url.includes(part))) answer("network.failRequest");
  else setTimeout(() => answer("network.continueRequest"), network.latency);
});

async function setNetwork(values) {
  Object.assign(network, values);
  const needed = network.latency > 0 || network.blocked.length > 0;
  if (needed && !network.intercept) ({ intercept: network.intercept } = await bidi("network.addIntercept", { phases: ["beforeRequestSent"] }));
  else if (!needed && network.intercept) {
    await bidi("network.removeIntercept", { intercept: network.intercept });
    network.intercept = null;
  }
  return {};
}

// ---- values, keys, files

/** A value as BiDi writes it, as it is; null for what it writes without a value, like a Response. */
function plain({ type, value }) {
  if (value === undefined) return null;
  if (type === "array") return value.map(plain);
  if (type === "object") return Object.fromEntries(value.map(([key, part]) => [key, plain(part)]));
  return type === "number" ? Number(value) : value;
}

async function evaluate(context, expression) {
  const said = await bidi("script.evaluate", { expression, target: { context }, awaitPromise: true, userActivation: true });
  if (said.type === "success") return { result: { value: plain(said.result) } };
  return { exceptionDetails: { exception: { description: said.exceptionDetails.text } } };
}

const KEYS = { Enter: "\uE007", Tab: "\uE004", Escape: "\uE00C", End: "\uE010", Home: "\uE011", ArrowLeft: "\uE012", ArrowUp: "\uE013", ArrowRight: "\uE014", ArrowDown: "\uE015" };
const SHIFT = "\uE008";
const perform = async (context, source) => (await bidi("input.performActions", { context, actions: [source] }), {});
const press = (context, actions) => perform(context, { type: "key", id: "keys", actions });
const point = (context, ...actions) => perform(context, { type: "pointer", id: "mouse", actions });

/** BiDi has no file manager to drag from: the page gets the same events with the same files. */
const DRAG = `(type, x, y, name, content) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([content], name));
  (document.elementFromPoint(x, y) ?? document.body).dispatchEvent(new DragEvent(type.toLowerCase(), { dataTransfer, bubbles: true, cancelable: true, clientX: x, clientY: y }));
}`;

// ---- what journeys ask

const asked = {
  "Target.createBrowserContext": async () => ({ browserContextId: (await bidi("browser.createUserContext", {})).userContext }),
  "Target.createTarget": async ({ browserContextId }) => ({ targetId: (await bidi("browsingContext.create", { type: "tab", userContext: browserContextId })).context }),
  "Target.attachToTarget": async ({ targetId }) => ({ sessionId: targetId }),
  "Target.disposeBrowserContext": async ({ browserContextId }) => {
    await setNetwork({ latency: 0, blocked: [] });
    return bidi("browser.removeUserContext", { userContext: browserContextId });
  },
  "Emulation.setDeviceMetricsOverride": ({ width, height, deviceScaleFactor }, context) =>
    bidi("browsingContext.setViewport", { context, viewport: { width, height }, devicePixelRatio: deviceScaleFactor }),
  async "Emulation.setEmulatedMedia"({ features }) {
    const wish = Object.fromEntries(features.map(({ name, value }) => [name, value]));
    const { contexts } = await bidi("browsingContext.getTree", { "moz:scope": "chrome" });
    return evaluate(contexts[0].context, `Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", ${wish["prefers-color-scheme"] === "dark" ? 0 : 1});
      Services.prefs.setIntPref("ui.prefersReducedMotion", ${wish["prefers-reduced-motion"] === "reduce" ? 1 : 0}); 0`);
  },
  "Network.emulateNetworkConditions": async ({ offline, latency }, context) => {
    await bidi("emulation.setNetworkConditions", { contexts: [context], networkConditions: offline ? { type: "offline" } : null });
    return setNetwork({ latency });
  },
  "Network.setBlockedURLs": ({ urls }) => setNetwork({ blocked: urls.map((url) => url.replaceAll("*", "")) }),
  "Page.navigate": ({ url }, context) => bidi("browsingContext.navigate", { context, url, wait: "interactive" }),
  "Page.addScriptToEvaluateOnNewDocument": ({ source }, context) => bidi("script.addPreloadScript", { functionDeclaration: `() => { ${source} }`, contexts: [context] }),
  "Page.captureScreenshot": ({ captureBeyondViewport }, context) => bidi("browsingContext.captureScreenshot", { context, origin: captureBeyondViewport ? "document" : "viewport" }),
  "Runtime.evaluate": ({ expression }, context) => evaluate(context, expression),
  "Input.insertText": ({ text }, context) => press(context, [...text].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }])),
  "Input.dispatchKeyEvent": ({ type, key, modifiers }, context) => {
    const down = type !== "keyUp";
    const one = { type: down ? "keyDown" : "keyUp", value: KEYS[key] ?? key };
    const shift = { ...one, value: SHIFT };
    return press(context, modifiers ? (down ? [shift, one] : [one, shift]) : [one]);
  },
  "Input.dispatchMouseEvent": ({ type, x, y, deltaX, deltaY }, context) => {
    if (type === "mouseWheel") return perform(context, { type: "wheel", id: "wheel", actions: [{ type: "scroll", x: Math.round(x), y: Math.round(y), deltaX, deltaY }] });
    const then = { mousePressed: [{ type: "pointerDown", button: 0 }], mouseReleased: [{ type: "pointerUp", button: 0 }], mouseMoved: [] };
    return point(context, { type: "pointerMove", x, y }, ...then[type]);
  },
  "Input.dispatchTouchEvent": ({ type, touchPoints: [at] }, context) =>
    perform(context, { type: "pointer", id: "finger", parameters: { pointerType: "touch" },
      actions: type === "touchStart" ? [{ type: "pointerMove", x: Math.round(at.x), y: Math.round(at.y) }, { type: "pointerDown", button: 0 }] : [{ type: "pointerUp", button: 0 }] }),
  "Input.dispatchDragEvent": async ({ type, x, y, data }, context) => {
    const [path] = data.files;
    const values = [type, x, y, basename(path), readFileSync(path, "utf8")];
    return bidi("script.callFunction", { functionDeclaration: DRAG, target: { context }, awaitPromise: false,
      arguments: values.map((value) => ({ type: typeof value, value })) });
  },
};

await bidi("session.subscribe", { events: ["log.entryAdded", "network.beforeRequestSent"] });
let held = Buffer.alloc(0);
for await (const bytes of createReadStream(null, { fd: 3 })) {
  held = Buffer.concat([held, bytes]);
  for (let end; (end = held.indexOf(0)) >= 0; held = held.subarray(end + 1)) {
    const { id, method, params, sessionId } = JSON.parse(held.subarray(0, end).toString());
    if (method === "Browser.close") {
      await browser.close();
      tell({ id, result: {} });
      process.exit();
    }
    try {
      const work = method.endsWith(".enable") ? () => ({}) : asked[method];
      if (!work) throw new Error("Firefox is not asked this");
      tell({ id, result: await work(params, sessionId) });
    } catch (error) {
      tell({ id, error: { message: String(error.message ?? error).split("\n")[0] } });
    }
  }
}
// Whoever asked is gone.
await browser.close();
process.exit();
