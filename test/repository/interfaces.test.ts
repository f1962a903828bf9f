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
