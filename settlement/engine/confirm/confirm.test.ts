import type { Address, Hex } from "viem";
import { expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import type { BatchOutcome } from "../../domain/batch.ts";
import { microUsdc } from "../../domain/money.ts";
import type { EngineContext } from "../context.ts";
import { createConfirm } from "./confirm.ts";

const PAYER: Address = "0x00000000000000000000000000000000000000aa";
const OPERATOR: Address = "0x00000000000000000000000000000000000000bb";
const ROOT: Hex = `0x${"1".repeat(64)}`;
const TX: Hex = `0x${"2".repeat(64)}`;
const BLOCK: Hex = `0x${"3".repeat(64)}`;

// A batch of 5 for the model, mined in block 5 with bytes of this ledger's and final since, and what its logs say.
async function concludedWith(charged: bigint): Promise<string[]> {
  const did: string[] = [];
  const outcome: BatchOutcome = {
    charged: microUsdc(charged),
    treasuryShare: microUsdc(charged),
    failed: [],
    refused: [],
    paid: [],
  };
  const inclusion = { txHash: TX, blockNumber: 5n, blockHash: BLOCK, gasUsed: 1n };
  const rows = [{ payer: PAYER, modelCost: 5n, lines: [] }];
  const submission = {
    id: ROOT,
    kind: "settle",
    operator: OPERATOR,
    calldata: encodeSettle({ previous: NO_BATCH, root: ROOT, toolIds: [], rows }),
    state: { kind: "included", ...inclusion },
    broadcasts: [{ txHash: TX }],
  };
  const context = {
    chain: {
      finalized: async () => ({ number: 9n, hash: BLOCK, timestampMs: 0 }),
      blockHash: async () => BLOCK,
      receipt: async () => ({ ...inclusion, status: "success", batches: new Map([[ROOT, outcome]]) }),
    },
    ledger: {
      listMinedAbove: async () => [],
      listMinedUpTo: async () => [{ id: ROOT, blockNumber: 5n, blockHash: BLOCK }],
      listUnmined: async () => [],
      findSubmission: async () => submission,
      finalize: async () => did.push("final"),
      halt: async (reason: string) => did.push(reason),
    },
    clock: { nowMs: () => 0 },
    looking: { lifted: 0 },
    policy: { maxFinalPerTick: 1 },
    report: () => {},
    reached: () => {},
  } as unknown as EngineContext;
  await createConfirm(context)({ operator: OPERATOR, holder: "tests", token: 1, untilMs: 0 });
  return did;
}

it("a batch is final when its logs say what it asked for", async () => {
  expect(await concludedWith(5n)).toEqual(["final"]);
});

it("a batch whose logs say something else than it asked for halts all, whoever has signed it", async () => {
  expect(await concludedWith(6n)).toEqual([`batch ${ROOT} in ${TX}: 6 was charged on chain and 5 in the ledger`]);
});
