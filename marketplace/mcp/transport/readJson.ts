import { McpFailure } from "../McpFailure.ts";

// Deeper than any honest answer, and far from where recursive readers, ours or a buyer's, run out of stack.
const MAX_DEPTH = 128;

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

// Level by level and without recursion, because the depth is what is in doubt.
function inspect(root: unknown): void {
  let level: object[] = isObject(root) ? [root] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      throw new McpFailure("tooLarge", `the server's answer is nested deeper than ${MAX_DEPTH} levels`);
    }
    const next: object[] = [];
    for (const node of level) {
      if (Object.hasOwn(node, "__proto__")) {
        throw new McpFailure("malformed", "the server's answer has a field named __proto__");
      }
      for (const child of Array.isArray(node) ? node : Object.values(node)) if (isObject(child)) next.push(child);
    }
    level = next;
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
