import { describe, expect, it } from "vitest";
import type { Start } from "./check.ts";
import { command, failuresListedIn, hardhatTests, proofs, vitest } from "./outcomes.ts";

const ended =
  (code: number | null, output = ""): Start =>
  async () => ({ code, output });

describe("what Hardhat's runners list as failed", () => {
  it("is named by file, suites and test", () => {
    const output = [
      "    1) fails",
      "  6 passing (365ms)",
      "  2 failing",
      "",
      "  1) outer",
      '       "before all" hook for "never runs":',
      "     Error: set-up",
      "      at Context.<anonymous> (test/contracts/ToolStaking/list.ts:4:48)",
      "",
      "  2) ToolStaking.list",
      "       of a tool",
      "         fails:",
      "     AssertionError: expected 1 to equal 2",
      "      at assert (node_modules/chai/index.js:1:1)",
      "      at Context.<anonymous> (test/contracts/ToolStaking/list.ts:6:46)",
    ];
    expect(failuresListedIn(output.join("\n"))).toEqual([
      'test/contracts/ToolStaking/list.ts: outer "before all" hook for "never runs"',
      "test/contracts/ToolStaking/list.ts: ToolStaking.list of a tool fails",
    ]);
  });

  it("is named by contract and function in Solidity", () => {
    const output = [
      "  3 passing",
      "  1 failing",
      "",
      "  1) ToolIdTest#testFuzz_anIdIsAUuid(address,bytes32)",
      "    Error: version 8",
      "      at ToolIdTest.testFuzz_anIdIsAUuid (test/solidity/ToolId.t.sol:10)",
    ];
    expect(failuresListedIn(output.join("\n"))).toEqual([
      "test/solidity/ToolId.t.sol: ToolIdTest#testFuzz_anIdIsAUuid(address,bytes32)",
    ]);
  });
});

describe("a check fails", () => {
  it("if its command does", async () => {
    expect(await command("biome")(ended(0))).toEqual({ passed: 1, failures: [] });
    expect(await command("biome")(ended(2))).toEqual({ passed: 0, failures: ["it ended with 2"] });
  });

  it("if no test was found, though nothing complained", async () => {
    expect((await hardhatTests("mocha")(ended(0))).failures).toEqual(["it ended with 0, without a test"]);
  });

  it("if a file of Mocha's does not load, which is named", async () => {
    const output =
      "An unexpected error occurred:\n\nError [ERR_MODULE_NOT_FOUND]: no module a.ts, wanted by b.ts\n    at c";
    expect((await hardhatTests("mocha")(ended(1, output))).failures).toEqual([
      "it ended with 1, without a test: Error [ERR_MODULE_NOT_FOUND]: no module a.ts, wanted by b.ts",
    ]);
  });

  it("if Vitest breaks down before it has reported", async () => {
    expect(await vitest()(ended(1))).toEqual({ passed: 0, failures: ["it ended with 1, without a test"] });
  });

  it("if it ended badly, though every test passed", async () => {
    expect(await hardhatTests("mocha")(ended(1, "  7 passing"))).toEqual({ passed: 7, failures: ["it ended with 1"] });
  });

  it("if it had to be ended, though every test passed", async () => {
    expect((await hardhatTests("mocha")(ended(null, "  7 passing"))).failures).toEqual(["it was ended"]);
  });

  it("if a proof does, which is named", async () => {
    const output = "✓ NoUnitIsLost is proved (2.6 s)\n✗ NoUnitIsLost is refuted of code that loses units (2.9 s)\nwhy";
    expect(await proofs("prove.ts")(ended(1, output))).toEqual({
      passed: 1,
      failures: ["NoUnitIsLost is refuted of code that loses units"],
    });
  });
});
