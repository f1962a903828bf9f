import { McpFailure } from "../McpFailure.ts";

// Deeper than any honest answer, and far from where recursive readers, ours or a buyer's, run out of stack.
export const MAX_DEPTH = 128;
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
  const shape = walkLevels(root, MAX_DEPTH, (node) => {
    if (Object.hasOwn(node, "__proto__")) {
      throw new McpFailure("malformed", "the server's answer has a field named __proto__");
    }
    values += Array.isArray(node) ? node.length : Object.keys(node).length;
    if (values > MAX_VALUES) throw new McpFailure("tooLarge", `the server's answer has more than ${MAX_VALUES} values`);
  });
  if (shape === "deeper") {
    throw new McpFailure("tooLarge", `the server's answer is nested deeper than ${MAX_DEPTH} levels`);
  }
}

// Whether a value that was read as JSON is nested deeper than others can write or walk it.
export const isTooDeep = (root: unknown): boolean => walkLevels(root, MAX_DEPTH, () => undefined) === "deeper";

// Level by level and without recursion, because the depth is what is in doubt.
function walkLevels(root: unknown, maxDepth: number, see: (node: object) => void): "whole" | "deeper" {
  let level: object[] = isObject(root) ? [root] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return "deeper";
    const next: object[] = [];
    for (const node of level) {
      see(node);
      for (const child of Array.isArray(node) ? node : Object.values(node)) if (isObject(child)) next.push(child);
    }
    level = next;
  }
  return "whole";
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
