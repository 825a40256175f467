// Answers beside the page, so that a long answer does not stop the picture.

import { desk } from "./desk.js";

/** @type {(program: WebAssembly.Module) => void} */
let bring;
/** The page sends it when it is compiled. @type {Promise<WebAssembly.Module>} */
const brought = new Promise((done) => (bring = done));
/** @type {Promise<any> | null} */
let answers = brought.then(desk);

addEventListener("message", async ({ data: { program, id, request, body } }) => {
  if (program) return bring(program);
  try {
    answers ??= brought.then(desk);
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
