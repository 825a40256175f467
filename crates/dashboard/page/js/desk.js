// The program that answers, in WebAssembly: bytes of a request in, bytes of an answer out.

const NOTHING = new Uint8Array(0);

/** @param {WebAssembly.Module} program */
export async function desk(program) {
  const instance = await WebAssembly.instantiate(program, {});
  const { memory, room, ask, answer_bytes: answerBytes } = /** @type {any} */ (instance.exports);
  /**
   * @param {{method: string, path: string, query: string, kind: string, now_ms: number}} request
   * @param {Uint8Array} [body]
   * @returns {{status: number, kind?: string, body: Uint8Array}}
   */
  return (request, body = NOTHING) => {
    const head = new TextEncoder().encode(JSON.stringify(request));
    const at = room(head.length + body.length);
    new Uint8Array(memory.buffer).set(head, at);
    new Uint8Array(memory.buffer).set(body, at + head.length);
    const from = ask(head.length);
    const answer = new Uint8Array(memory.buffer, from, answerBytes());
    const length = new DataView(memory.buffer).getUint32(from, true);
    const said = JSON.parse(new TextDecoder().decode(answer.subarray(4, 4 + length)));
    return { ...said, body: answer.slice(4 + length) };
  };
}
