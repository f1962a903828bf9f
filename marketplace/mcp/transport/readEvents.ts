import { TextDecoder } from "node:util";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Body, decode, readChunks } from "./request.ts";

// The events of a stream as they come, until it has brought more than the limit.
export async function* readEvents(body: Body, maxBytes: number): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  for await (const chunk of readChunks(body, maxBytes)) {
    parser.feed(decode(decoder, chunk, true));
    const ready = events;
    events = [];
    yield* ready;
  }
}
