import { expect, it } from "vitest";
import { microUsdc } from "../../../domain/money.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { toolOf } from "../../../ledger/testing/fixtures.ts";
import { readTools } from "./readTools.ts";

it("tools that nobody has used yet are listed by their names, behind those that have earned", async () => {
  const amount = microUsdc(1_000_000n);
  const ledger = {
    listToolEarnings: async () => [{ toolId: toolOf(1), batches: 1, amount, developerShare: amount }],
    findToolEarnings: async () => null,
    listBatches: async () => [],
    listToolNames: async () => [
      { toolId: toolOf(2), name: "Maps" },
      { toolId: toolOf(1), name: "Weather" },
    ],
  } as unknown as Ledger;
  const inspection = { tools: async (ids: readonly unknown[]) => ids.map(() => null) };
  const shown = (await readTools({ ledger, inspection }, 10, 0)).map(({ name, settledUsd }) => [name, settledUsd]);
  expect(shown).toEqual([
    ["Weather", "1.00"],
    ["Maps", "0.00"],
  ]);
  expect(await readTools({ ledger, inspection }, 10, 10)).toHaveLength(1);
});
