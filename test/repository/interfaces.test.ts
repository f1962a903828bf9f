import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHARGE_FAILURES, TOOL_REFUSALS } from "../../settlement/domain/batch/batch.ts";

const FOLDER = "contracts/interfaces";

describe("whoever builds on the interfaces chooses the compiler", () => {
  it.each(readdirSync(FOLDER).filter((name) => name.endsWith(".sol")))("%s", (name) => {
    expect(readFileSync(join(FOLDER, name), "utf8")).toContain("pragma solidity ^0.8.20;");
  });
});

// The router reports a number, and the service knows what it means by its place.
it("the service has the router's reasons, in their order", () => {
  expect(["none", ...CHARGE_FAILURES]).toEqual(membersOf("ChargeFailure", "ChargeFailure.sol"));
  expect(TOOL_REFUSALS).toEqual(membersOf("Refusal", "IContextRouter.sol"));
});

function membersOf(name: string, file: string): string[] {
  const source = readFileSync(join(FOLDER, file), "utf8").replaceAll(/\/\/.*/g, "");
  const [, members = ""] = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(source) ?? [];
  return [...members.matchAll(/\w+/g)].map(([member]) => member.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase());
}
