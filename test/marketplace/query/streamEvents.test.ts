import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { streamEvents } from "../../../marketplace/api/streamEvents.ts";
import { splitLines } from "../strictClient.ts";

const BREAKS = [..."\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", "\r\n"];

it.each(BREAKS.map((one) => [one.codePointAt(0)?.toString(16), one]))(
  "U+%s is no end of a line in an event, whatever is said in it",
  async (_name, lineBreak) => {
    const said = `before${lineBreak}after`;
    const events = [
      { type: "tool-status", status: said, tool: { id: "", name: said } },
      { type: "text-delta", delta: said },
      { type: "done", result: { evidence: { facts: [{ value: said, [said]: said }] } } },
    ];
    const stream = streamEvents(async (emit) => {
      for (const event of events) emit(event);
    });
    const lines = splitLines(await text(stream)).filter((line) => line !== "" && !line.startsWith(":"));
    expect(lines.pop()).toBe("data: [DONE]");
    expect(lines).toHaveLength(events.length);
    expect(lines.map((line) => JSON.parse(line.slice("data: ".length)))).toEqual(events);
  },
);
