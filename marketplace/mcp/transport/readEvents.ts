import { TextDecoder } from "node:util";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { McpFailure } from "../McpFailure.ts";
import type { Growth } from "./createGrowth.ts";
import { type Body, decode, readChunks } from "./request.ts";

// The events of a stream as they come, until it has brought more than the limit, or one of them has.
export async function* readEvents(
  body: Body,
  maxBytes: number,
  growth: Growth,
  maxEventLength = maxBytes,
): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let events: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    maxBufferSize: maxEventLength,
    onError: ({ type }) => {
      if (type !== "max-buffer-size-exceeded") return;
      throw new McpFailure("tooLarge", `an event of the server's is larger than ${maxEventLength} characters`);
    },
  });
  for await (const chunk of readChunks(body, maxBytes, growth)) {
    parser.feed(decode(decoder, chunk, true));
    const ready = events;
    events = [];
    yield* ready;
  }
}
