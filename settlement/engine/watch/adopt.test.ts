import type { Address } from "viem";
import { expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import { microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { takenBy } from "./adopt.ts";

const PAYER: Address = "0x00000000000000000000000000000000000000aa";
const TOOL: ToolId = `0x${"1".repeat(32)}` as ToolId;

it("of two lines for one tool, one of which was refused, the other was taken", () => {
  const lines = [3n, 4n, 4n].map((amount) => ({ toolIndex: 0, amount }));
  const calldata = encodeSettle({
    previous: NO_BATCH,
    batchId: `0x${"2".repeat(64)}`,
    toolIds: [TOOL],
    rows: [{ payer: PAYER, modelCost: 0n, lines }],
  });
  const refused = [{ chargedTo: PAYER, toolId: TOOL, amount: microUsdc(4n), reason: "earning_cap" as const }];
  const outcome = { charged: microUsdc(7n), treasuryShare: microUsdc(0n), failed: [], paid: [], refused };
  const { taken } = takenBy(calldata, outcome);
  expect(taken.map(({ amount }) => amount)).toEqual([3n, 4n]);
});
