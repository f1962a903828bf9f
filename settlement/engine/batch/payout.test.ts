import { type Address, decodeFunctionData, type Hex } from "viem";
import { expect, it } from "vitest";
import { routerAbi } from "../../chain/router/abi.ts";
import { microUsdc } from "../../domain/money.ts";
import type { EngineContext } from "../context.ts";
import { createPayouts } from "./payout.ts";

const payee = (n: number): Address => `0x${n.toString(16).padStart(40, "0")}`;
const LEASE = { operator: payee(999), holder: "tests", token: 1, untilMs: 0 };

it("everybody who has earned enough is paid, in as many transactions as that takes, and then not before the next time", async () => {
  let nowMs = 0;
  const payees = Array.from({ length: 8 }, (_, i) => payee(i));
  const payouts = createPayouts({
    ledger: {
      listPayees: async () => payees,
      planSubmission: async (_: unknown, submission: { id: Hex; calldata: Hex }) => submission,
    },
    chain: { router: payee(1000), credits: async () => payees.map((_, i) => microUsdc(i === 5 ? 1n : 10n)) },
    clock: { nowMs: () => nowMs },
    policy: { payoutEveryMs: 1_000, payoutThreshold: microUsdc(5n), maxPayoutsPerTransaction: 3 },
  } as unknown as EngineContext);
  const paid: string[][] = [];
  for (let i = 0; i < 5; i++) {
    const planned = await payouts.planNext(LEASE);
    if (planned === null) break;
    const { args } = decodeFunctionData({ abi: routerAbi, data: planned.calldata });
    const [accounts] = args as readonly [readonly string[]];
    paid.push([...accounts]);
  }
  expect(paid.map(({ length }) => length)).toEqual([3, 3, 1]);
  expect(new Set(paid.flat()).size).toBe(7);
  nowMs = 999;
  expect(await payouts.planNext(LEASE)).toBeNull();
  nowMs = 1_000;
  expect(await payouts.planNext(LEASE)).not.toBeNull();
});
