// Answers beside the page, so that a long answer does not stop the picture.

import { desk } from "./desk.js";

const program = (async () => {
  const response = await fetch(new URL("../headway.wasm", import.meta.url));
  if (!response.ok) throw new Error(`headway.wasm: ${response.status}`);
  // Not every web server names the type that streaming wants.
  if (response.headers.get("Content-Type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
})();
/** @type {Promise<any> | null} */
let answers = null;

addEventListener("message", async ({ data: { id, request, body } }) => {
  try {
    answers ??= program.then(desk);
    const ask = await answers;
    try {
      const answer = ask({ ...request, now_ms: Math.round(performance.now()) }, body);
      postMessage({ id, ...answer }, { transfer: [answer.body.buffer] });
    } catch (error) {
      // A mistake of ours: what it has left behind is not to be trusted.
      answers = null;
      console.error(error);
      const message = "the page failed to answer this request";
      postMessage({ id, status: 500, body: new TextEncoder().encode(JSON.stringify({ error: { code: "internal", message } })) });
    }
  } catch (error) {
    answers = null;
    postMessage({ id, status: 0, why: String(error) });
  }
});
