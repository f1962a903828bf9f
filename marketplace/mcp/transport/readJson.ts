import { McpFailure } from "../McpFailure.ts";

// Deeper than any honest answer, and far from where recursive readers, ours or a buyer's, run out of stack.
export const MAX_DEPTH = 128;
export const MAX_NUMBER = "1.8e308";
// What reading, judging and hashing cost grows with the values rather than with the bytes: sixteen megabytes of `{},` would
// hold up everybody for seconds.
const MAX_VALUES = 1_000_000;

// Reads JSON that a stranger wrote. `__proto__` as a key has no honest meaning, and whoever later copies such an object field
// by field would change its prototype instead.
export function readJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new McpFailure("malformed", "the server's answer is not JSON", { cause: error });
  }
  inspect(value);
  return value;
}

function inspect(root: unknown): void {
  let values = 1;
  const shape = shapeOf(root, (node) => {
    if (Object.hasOwn(node, "__proto__")) {
      throw new McpFailure("malformed", "the server's answer has a field named __proto__");
    }
    values += Array.isArray(node) ? node.length : Object.keys(node).length;
    if (values > MAX_VALUES) throw new McpFailure("tooLarge", `the server's answer has more than ${MAX_VALUES} values`);
  });
  if (shape === "deeper") {
    throw new McpFailure("tooLarge", `the server's answer is nested deeper than ${MAX_DEPTH} levels`);
  }
  if (shape === "endless") {
    throw new McpFailure("malformed", `the server's answer has a number above ${MAX_NUMBER}`);
  }
}

// What can be read as JSON and not be written again as what it was: nested deeper than others can walk it, or with a number that
// has become infinite and would be handed on as null. Level by level and without recursion, because the depth is what is in doubt.
export function shapeOf(root: unknown, see: (node: object) => void = () => undefined): "whole" | "deeper" | "endless" {
  if (isEndless(root)) return "endless";
  let level: object[] = isObject(root) ? [root] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return "deeper";
    const next: object[] = [];
    for (const node of level) {
      see(node);
      for (const child of Array.isArray(node) ? node : Object.values(node)) {
        if (isObject(child)) next.push(child);
        else if (isEndless(child)) return "endless";
      }
    }
    level = next;
  }
  return "whole";
}

const isEndless = (value: unknown) => value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
