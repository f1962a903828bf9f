import { describe, expect, it } from "vitest";
import { commandOf, readCheck } from "./check.ts";
import { locateCheck } from "./locateCheck.ts";

const tests = [
  { file: "settlement/ledger/sessions/sessions.test.ts", text: 'it("a hold reserves, a capture spends", …)' },
  { file: "settlement/ledger/reads/stats.test.ts", text: 'it("refused charges are counted", …)' },
  { file: "settlement/engine/stats.test.ts", text: 'it("refused charges are counted", …)' },
  { file: "test/faults/rpc.test.ts", text: 'import { rpcFaults } from "./rpcFaults.ts";' },
  { file: "test/faults/rpcFaults.ts", text: 'claim: "a transaction that blocks pass by is replaced"' },
  { file: "test/contracts/router/settle.ts", text: "" },
];
const located = (command: string) => commandOf(locateCheck(readCheck(command), tests));

describe("a check is found", () => {
  it("where it was", () => {
    const command = 'vitest run settlement/engine/stats.test.ts -t "refused charges"';
    expect(located(command)).toBe(command);
  });

  it("by the words of its test, if the test was moved", () => {
    expect(located('vitest run ledger/calls.test.ts -t "a hold reserves"')).toBe(
      'vitest run settlement/ledger/sessions/sessions.test.ts -t "a hold reserves"',
    );
  });

  it("by words in a list that the test file imports", () => {
    const command = 'vitest run test/faults/rpc.test.ts -t "that blocks pass by"';
    expect(located(command)).toBe(command);
  });

  it("by the name of its file, if it is a whole file", () => {
    expect(located("hardhat test mocha test/contracts/ContextRouter/settle.ts")).toBe(
      "hardhat test mocha test/contracts/router/settle.ts",
    );
    expect(located("vitest run engine/stats.test.ts")).toBe("vitest run settlement/engine/stats.test.ts");
  });

  it("nowhere if it is gone or in two places", () => {
    expect(() => located('vitest run a.test.ts -t "a hold takes"')).toThrow('the words "a hold takes" is nowhere');
    expect(() => located("vitest run money.test.ts")).toThrow("a test file money.test.ts is nowhere any more");
    expect(() => located('vitest run a.test.ts -t "refused charges"')).toThrow("name the file in caughtBy");
  });

  it("in the simulator, whose seeds have no place", () => {
    const command = "npm run sim -- --seed 1 --seeds 40";
    expect(located(command)).toBe(command);
    expect(() => located("npm run sim")).toThrow("no check is called like this: npm run sim");
  });
});
