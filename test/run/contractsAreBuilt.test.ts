import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Start } from "./check.ts";
import { contractsAreBuilt } from "./contractsAreBuilt.ts";

const TYPES = "typechain-types/index.ts";
const ARTIFACT = "artifacts/contracts/Router.json";

const clone = process.cwd();
let folder: string;
let commands: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "build-"));
  process.chdir(folder);
  commands = [];
  write("settlement/chain/abi.ts", "abi");
  write(TYPES, "a\nb");
});
afterEach(() => {
  process.chdir(clone);
  rmSync(folder, { recursive: true, force: true });
});

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

// Builds as Hardhat does, with these types, or is interrupted after its artifacts.
const compiler =
  (types: string, code: number | null = 0): Start =>
  async (file, ...args) => {
    commands.push([file, ...args].join(" "));
    write(ARTIFACT, "bytecode");
    write("cache/compile-cache.json", "{}");
    if (code === 0) write(TYPES, types);
    return { code, output: "" };
  };

const build = (types = "a\nb", code: number | null = 0) => contractsAreBuilt(compiler(types, code), () => {});
const isForced = () => commands.findLast((command) => command.startsWith("hardhat"))?.includes("--force");

it("a fresh clone is built from nothing, and a build that is whole is taken over", async () => {
  expect(await build()).toEqual({ passed: 1, failures: [] });
  expect(isForced()).toBe(true);
  await build();
  expect(isForced()).toBe(false);
});

it("artifacts that are not those of the last whole build are not taken over", async () => {
  await build();
  write(ARTIFACT, "other bytecode");
  await build();
  expect(isForced()).toBe(true);
});

it("a build that was interrupted, or failed, is not taken over", async () => {
  await build();
  for (const code of [null, 1]) {
    expect((await build("a\nb", code)).failures).toEqual(["the contracts cannot be compiled"]);
    await build();
    expect(isForced()).toBe(true);
  }
});

it("types that are not those of the contracts fail, and are there to be committed", async () => {
  expect((await build("a\nc")).failures).toEqual(["typechain-types or settlement/chain/abi.ts was stale"]);
  expect(readFileSync(TYPES, "utf8")).toBe("a\nc");
});

// TypeChain indents the first entry of a list, whichever that is.
it("what differs in its order and in the indentation that goes with it is put back", async () => {
  write(TYPES, "{\n  a\nb\n}");
  expect((await build("{\n  b\na\n}")).failures).toEqual([]);
  expect(readFileSync(TYPES, "utf8")).toBe("{\n  a\nb\n}");
});

it("what differs in its order only is put back", async () => {
  expect((await build("b\na")).failures).toEqual([]);
  expect(readFileSync(TYPES, "utf8")).toBe("a\nb");
});
