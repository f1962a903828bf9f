import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHARGE_FAILURES, TOOL_REFUSALS } from "../../settlement/domain/batch/batch.ts";

const FOLDERS = ["contracts/interfaces", "contracts/court/interfaces"];

const interfaces = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sol"))
    .map((name) => join(folder, name)),
);

describe("whoever builds on the interfaces chooses the compiler", () => {
  it.each(interfaces)("%s", (path) => {
    const source = readFileSync(path, "utf8");
    expect(source).toContain("pragma solidity ^0.8.20;");
    // What it imports must leave the choice as well.
    const imported = [...source.matchAll(/ from "(\.[^"]+)"/g)].map(([, from = ""]) => join(dirname(path), from));
    expect(imported.filter((file) => !interfaces.includes(file))).toEqual([]);
  });
});

// The grammar of 0.8.20, as far as an interface needs it: whatever the compiler here has learnt since is none of it. Another compiler
// in node_modules, nine megabytes for this one question, could not say more.
const NODES = new Set([
  ...[
    "SourceUnit",
    "PragmaDirective",
    "ImportDirective",
    "ContractDefinition",
    "InheritanceSpecifier",
    "IdentifierPath",
  ],
  ...["StructDefinition", "EnumDefinition", "EnumValue", "EventDefinition", "ErrorDefinition", "FunctionDefinition"],
  ...["ParameterList", "VariableDeclaration", "StructuredDocumentation"],
  ...["ElementaryTypeName", "UserDefinedTypeName", "ArrayTypeName", "Identifier"],
]);
const OLD_TYPE = /^(address|bool|string|bytes|u?int\d+|bytes\d+)$/;

type SyntaxNode = { nodeType: string; [field: string]: unknown };

// What a part of an interface has that 0.8.20 has not.
function newerThan0820(node: SyntaxNode, parent?: SyntaxNode): string[] {
  const { nodeType } = node;
  const isNew =
    !NODES.has(nodeType) ||
    (nodeType === "ContractDefinition" && (node.contractKind !== "interface" || node.storageLayout !== undefined)) ||
    (nodeType === "FunctionDefinition" && (node.implemented || node.visibility !== "external")) ||
    (nodeType === "EventDefinition" && parent?.nodeType !== "ContractDefinition") ||
    (nodeType === "VariableDeclaration" && !["default", "memory", "calldata"].includes(String(node.storageLocation))) ||
    (nodeType === "ElementaryTypeName" && !OLD_TYPE.test(String(node.name)));
  const parts = Object.values(node).flat().filter(isNode);
  return [...(isNew ? [`${nodeType} ${node.name ?? ""}`] : []), ...parts.flatMap((part) => newerThan0820(part, node))];
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "nodeType" in value;

const COMPILE = 'process.stdout.write(require("solc").compile(require("fs").readFileSync(0, "utf8")))';

// In a process of its own, because the compiler keeps the memory that it once took.
function parse(files: Record<string, string>): Map<string, SyntaxNode> {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(Object.entries(files).map(([path, content]) => [path, { content }])),
    settings: { stopAfter: "parsing", outputSelection: { "*": { "": ["ast"] } } },
  };
  const output = execFileSync(process.execPath, ["-e", COMPILE], { input: JSON.stringify(input), maxBuffer: 2 ** 26 });
  const { sources }: { sources: Record<string, { ast: SyntaxNode }> } = JSON.parse(String(output));
  return new Map(Object.entries(sources).map(([path, { ast }]) => [path, ast]));
}

it("no interface says what the compiler 0.8.20 would not understand", () => {
  const sources = parse(Object.fromEntries(interfaces.map((path) => [path, readFileSync(path, "utf8")])));
  expect([...sources.keys()].toSorted()).toEqual(interfaces.toSorted());
  for (const [path, source] of sources) expect({ path, newer: newerThan0820(source) }).toEqual({ path, newer: [] });

  // What has come since is seen.
  const newer = parse({
    "event.sol": "event E();",
    "layout.sol": "contract C layout at 1 {}",
    "body.sol": "error E(); interface I {} library L { function f() external { require(true, E()); } }",
    "transient.sol": "contract C { uint transient x; }",
  });
  for (const source of newer.values()) expect(newerThan0820(source)).not.toEqual([]);
});

// The router reports a number, and the service knows what it means by its place.
it("the service has the router's reasons, in their order", () => {
  expect(["none", ...CHARGE_FAILURES]).toEqual(membersOf("ChargeFailure", "ChargeFailure.sol"));
  expect(TOOL_REFUSALS).toEqual(membersOf("Refusal", "IContextRouter.sol"));
});

function membersOf(name: string, file: string): string[] {
  const source = readFileSync(join("contracts/interfaces", file), "utf8").replaceAll(/\/\/.*/g, "");
  const [, members = ""] = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(source) ?? [];
  return [...members.matchAll(/\w+/g)].map(([member]) => member.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase());
}
