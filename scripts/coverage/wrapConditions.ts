import { createHash } from "node:crypto";
import { createRequire } from "node:module";

type Callbacks = { import: () => { contents: string } };
const solc: { compile: (input: string, callbacks: Callbacks) => string } = createRequire(import.meta.url)("solc");

// A condition and the tags that report it true and false.
export type Condition = { line: number; text: string; whenTrue: string; whenFalse: string };

type Node = { nodeType: string; src: string; [key: string]: unknown };

// Reports a condition's value and passes it on.
const OUTCOME_FUNCTION = `
function __outcome(bool value, uint256 whenTrue, uint256 whenFalse) pure returns (bool) {
    __NomicFoundationCoverage.sendHit(value ? whenTrue : whenFalse);
    return value;
}
`;

// Hardhat tells which statements ran and nothing about branches: `a || b ? c : d` is one statement to it, and an `if`
// that has no `else` leaves no trace when it is passed over. So every condition is wrapped in a call that reports its
// value. Conditions are those of each `if`, each `?:` and each `require`, and both operands of each `&&` and `||`; a
// condition that is itself made of `&&` and `||` counts by its operands. Loops are left out: every loop that ends has seen
// both outcomes.
// The source is one that Hardhat has instrumented, since the calls use its coverage library.
export function wrapConditions(path: string, instrumented: string): { source: string; conditions: Condition[] } {
  // The parser counts in bytes.
  const bytes = Buffer.from(instrumented);
  const conditions: Condition[] = [];
  const insertions: { at: number; start: number; text: string }[] = [];
  for (const src of conditionsIn(parse(path, instrumented))) {
    const [start = 0, length = 0] = src.split(":").map(Number);
    const tagOf = (outcome: string) => createHash("sha256").update(`${path} ${src} ${outcome}`).digest("hex");
    const condition = {
      line: bytes.subarray(0, start).toString().split("\n").length,
      text: bytes.subarray(start, start + length).toString(),
      whenTrue: tagOf("true"),
      whenFalse: tagOf("false"),
    };
    conditions.push(condition);
    insertions.push({ at: start, start, text: "__outcome(" });
    insertions.push({
      at: start + length,
      start,
      text: `, 0x${condition.whenTrue}, 0x${condition.whenFalse})`,
    });
  }
  if (conditions.length === 0) return { source: instrumented, conditions };

  // Where two conditions end at the same place, the inner one, which begins later, is closed first.
  insertions.sort((a, b) => a.at - b.at || b.start - a.start);
  let source = "";
  let copied = 0;
  for (const { at, text } of insertions) {
    source += bytes.subarray(copied, at).toString() + text;
    copied = at;
  }
  return { source: source + bytes.subarray(copied).toString() + OUTCOME_FUNCTION, conditions };
}

function parse(path: string, content: string): Node {
  const input = {
    language: "Solidity",
    sources: { [path]: { content } },
    settings: { stopAfter: "parsing", outputSelection: { "*": { "": ["ast"] } } },
  };
  // Parsing needs nothing of the imported files.
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: () => ({ contents: "" }) }));
  const ast = output.sources?.[path]?.ast;
  if (ast === undefined) throw new Error(`${path} cannot be parsed: ${JSON.stringify(output.errors)}`);
  return ast;
}

// Where the conditions of a syntax tree stand.
function conditionsIn(tree: unknown): Set<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    if (value.nodeType === "IfStatement" || value.nodeType === "Conditional") {
      for (const operand of operandsOf(value.condition)) found.add(operand.src);
    } else if (isRequire(value)) {
      for (const operand of operandsOf(value.arguments[0])) found.add(operand.src);
    } else if (isLogical(value)) {
      for (const operand of operandsOf(value)) found.add(operand.src);
    }
    Object.values(value).forEach(visit);
  };
  visit(tree);
  return found;
}

function operandsOf(value: unknown): Node[] {
  if (!isNode(value)) return [];
  if (isLogical(value)) return [...operandsOf(value.leftExpression), ...operandsOf(value.rightExpression)];
  if (value.nodeType === "TupleExpression" && Array.isArray(value.components)) {
    return value.components.flatMap(operandsOf);
  }
  return [value];
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "nodeType" in value;

const isRequire = (node: Node): node is Node & { arguments: unknown[] } =>
  node.nodeType === "FunctionCall" && isNode(node.expression) && node.expression.name === "require";

const isLogical = (node: Node) =>
  node.nodeType === "BinaryOperation" && (node.operator === "&&" || node.operator === "||");
