import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const FOLDER = "contracts/interfaces";

describe("whoever builds on the interfaces chooses the compiler", () => {
  it.each(readdirSync(FOLDER).filter((name) => name.endsWith(".sol")))("%s", (name) => {
    expect(readFileSync(join(FOLDER, name), "utf8")).toContain("pragma solidity ^0.8.20;");
  });
});
