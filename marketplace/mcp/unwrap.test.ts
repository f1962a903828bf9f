import { describe, expect, it } from "vitest";
import type { ContentBlock } from "./outcome.ts";
import { errorText, handshakeIn, unwrap } from "./unwrap.ts";

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const image: ContentBlock = { type: "image", data: "AAAA", mimeType: "image/png" };

describe("a result is unwrapped", () => {
  it.each<[string, Parameters<typeof unwrap>[0], unknown]>([
    ["structured content wins", { structuredContent: { a: 1 }, content: [text("b")] }, { a: 1 }],
    ["unless it says nothing", { structuredContent: {}, content: [text("b")] }, "b"],
    ["or is no object", { structuredContent: [1], content: [text("b")] }, "b"],
    ["a text that is JSON", { content: [text('{"a":[1]}')] }, { a: [1] }],
    ["a text that is a number", { content: [text("42")] }, 42],
    ["a text that is not", { content: [text("hello")] }, "hello"],
    ["several texts that are JSON together", { content: [text('{"a":'), text("1}")] }, { a: 1 }],
    ["several texts that are not", { content: [text("one"), text("two")] }, "one\ntwo"],
    ["another block", { content: [image] }, image],
    ["several other blocks", { content: [image, image] }, [image, image]],
    ["mixed content", { content: [text('{"a":1}'), image, text("x")] }, [{ a: 1 }, image, "x"]],
    ["nothing", { content: [] }, null],
  ])("%s", (_what, raw, expected) => {
    expect(unwrap(raw)).toEqual(expected);
  });
});

describe("an error says", () => {
  it.each<[string, Parameters<typeof unwrap>[0], string]>([
    ["its text", { content: [text("no such coin")] }, "no such coin"],
    ["its JSON, without the tool's spaces", { content: [text('{ "code":\n 7 }')] }, '{"code":7}'],
    ["its structured content, if that is all", { content: [], structuredContent: { code: 7 } }, '{"code":7}'],
    ["that it says nothing", { content: [] }, "the tool failed without saying why"],
  ])("%s", (_what, raw, expected) => {
    expect(errorText(raw)).toBe(expected);
  });
});

describe("a handshake", () => {
  it("is found where a tool puts it, and nowhere else", () => {
    const action = { _action: "signature_request", primaryType: "Order" };
    expect(handshakeIn({ content: [], structuredContent: { _meta: { handshakeAction: action } } })).toEqual(action);
    const others = [
      undefined,
      { handshakeAction: action },
      { _meta: null },
      { _meta: { handshakeAction: { _action: "x" } } },
    ];
    for (const structuredContent of others) expect(handshakeIn({ content: [], structuredContent })).toBeUndefined();
  });
});
