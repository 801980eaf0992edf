// The stream of changes, followed for ever: broken connections are resumed where they broke off.
// (EventSource cannot send a token, so the few lines of the protocol are read here.)

import { openStream } from "./api.js";

const RETRY_MS = 3000;
// The feed sends a comment every 15 s; this long without a byte and the line is dead, whatever TCP believes.
const SILENCE_MS = 40000;

/**
 * Follow the stream.
 * handlers.open(): it stands, now is the time to load what was missed; handlers.event(type, data): a change;
 * handlers.broken(fault): it broke, the next try follows by itself.
 */
export async function follow(handlers) {
  let last = "";
  for (;;) {
    const hold = new AbortController();
    try {
      const body = await openStream(last, hold.signal);
      handlers.open();
      for await (const message of messages(body, hold)) {
        last = message.id || last;
        if (message.event) handlers.event(message.event, message.data);
      }
      throw new Error("The feed ended the stream.");
    } catch (fault) {
      hold.abort();
      if (handlers.broken(fault) === false) return;
    }
    await new Promise((done) => setTimeout(done, RETRY_MS));
  }
}

async function* messages(body, hold) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const watch = setTimeout(() => hold.abort(), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(watch));
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) yield parse(block);
  }
}

function parse(block) {
  const message = { id: "", event: "", data: null };
  for (const line of block.split("\n")) {
    const [, name, value] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
    if (name === "id" || name === "event") message[name] = value;
    if (name === "data") message.data = JSON.parse(value);
  }
  return message;
}
