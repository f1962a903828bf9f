import type { ContentBlock, HandshakeAction, ToolResult } from "./outcome.ts";
import { readJson } from "./transport/readJson.ts";

// What a buyer gets to see of a tool's result: the structured content if it says anything, otherwise the content.
export function unwrap({ structuredContent, content }: ToolResult): unknown {
  if (isRecord(structuredContent) && Object.keys(structuredContent).length > 0) return structuredContent;
  return unwrapContent(content);
}

// The text with which a tool failed. JSON is written again without the tool's line breaks.
export function errorText({ content, structuredContent }: ToolResult): string {
  const value = content.length > 0 ? unwrapContent(content) : (structuredContent ?? null);
  if (value === null || value === "") return "the tool failed without saying why";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const ACTIONS: ReadonlySet<unknown> = new Set(["signature_request", "transaction_proposal", "auth_required"]);

export function handshakeIn({ structuredContent }: ToolResult): HandshakeAction | undefined {
  const meta = isRecord(structuredContent) ? structuredContent._meta : undefined;
  const action = isRecord(meta) ? meta.handshakeAction : undefined;
  return isRecord(action) && ACTIONS.has(action._action) ? (action as HandshakeAction) : undefined;
}

function unwrapContent(content: readonly ContentBlock[]): unknown {
  const texts = content.map(textOf);
  if (content.length > 0 && texts.every((text) => text !== undefined)) return jsonOrText(texts.join("\n"));
  const blocks = content.map((block, index) => {
    const text = texts[index];
    return text === undefined ? block : jsonOrText(text);
  });
  return blocks.length > 1 ? blocks : (blocks[0] ?? null);
}

const textOf = ({ type, text }: ContentBlock): string | undefined =>
  type === "text" && typeof text === "string" ? text : undefined;

// What could not be sent as JSON cannot be smuggled in as text either: it stays a text.
function jsonOrText(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
