import { Readable } from "node:stream";

export type Emit = (event: { type: string; [field: string]: unknown }) => void;

// Proxies end a connection on which nothing is said for a minute or so.
const PING_MS = 15_000;

// Events as the SDKs read them: one is one line that begins with `data: `, with the space, and the last one says so. Nothing
// else is looked at, so that comments keep the connection alive.
export function streamEvents(work: (emit: Emit, gone: AbortSignal) => Promise<void>): Readable {
  const going = new AbortController();
  const stream = new Readable({ read: () => undefined });
  const write = (text: string) => {
    if (!stream.destroyed && !stream.readableEnded) stream.push(text);
  };
  // Clients wait for the headers for some minutes only, and these go with the first bytes.
  write(": ok\n\n");
  const ping = setInterval(() => write(": ping\n\n"), PING_MS).unref();
  stream.once("close", () => {
    clearInterval(ping);
    going.abort();
  });
  const emit: Emit = (event) => write(`data: ${JSON.stringify(event).replace(LINE_BREAKS, escaped)}\n\n`);
  void work(emit, going.signal).finally(() => {
    write("data: [DONE]\n\n");
    if (!stream.destroyed) stream.push(null);
  });
  return stream;
}

// JSON escapes the control characters below 0x20. These three it does not, and readers in Python end a line at them.
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
