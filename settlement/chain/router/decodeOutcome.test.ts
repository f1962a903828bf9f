import { type Address, encodeAbiParameters, encodeEventTopics, type Hex, type Log } from "viem";
import { describe, expect, it } from "vitest";
import { routerAbi } from "./abi.ts";
import { decodeOutcome } from "./decodeOutcome.ts";
import { NO_BATCH } from "./settleCall.ts";

const ROUTER: Address = "0x52908400098527886E0F7030069857D2E4169EE7";
const ELSEWHERE: Address = "0xde709f2102306220921060314715629080e2fb77";
const PAYER: Address = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
const DEVELOPER: Address = "0x27b1fdb04752bbc536007a920d24acb045561c26";
const OPERATOR: Address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TOOL: Hex = `0x${"ab".repeat(16)}`;
const ROOTS: readonly [Hex, Hex] = [`0x${"01".repeat(32)}`, `0x${"02".repeat(32)}`];

type Written = Pick<Log, "address" | "topics" | "data">;

const uints = (...values: bigint[]) =>
  encodeAbiParameters(
    values.map(() => ({ type: "uint256" })),
    values,
  );

const topicsOf = (...parameters: Parameters<typeof encodeEventTopics<typeof routerAbi>>) =>
  encodeEventTopics(...parameters) as Log["topics"];

const toolPaid = (amount: bigint, address = ROUTER): Written => ({
  address,
  topics: topicsOf({
    abi: routerAbi,
    eventName: "ToolPaid",
    args: { batchId: ROOTS[0], toolId: TOOL, payee: DEVELOPER },
  }),
  data: uints(amount, amount - amount / 10n),
});

const batchSettled = (batchId: Hex, charged: bigint, address = ROUTER): Written => ({
  address,
  topics: topicsOf({
    abi: routerAbi,
    eventName: "BatchSettled",
    args: { batchId, previous: NO_BATCH, operator: OPERATOR },
  }),
  data: uints(charged, charged / 10n),
});

const paid = (amount: bigint): Written => ({
  address: ROUTER,
  topics: topicsOf({ abi: routerAbi, eventName: "Paid", args: { payer: PAYER, toolId: TOOL } }),
  data: uints(amount, 0n),
});

const chargeFailed = (batchId: Hex, reason: bigint): Written => ({
  address: ROUTER,
  topics: topicsOf({ abi: routerAbi, eventName: "ChargeFailed", args: { batchId, payer: PAYER } }),
  data: uints(0n, 7n, reason),
});

const decode = (logs: readonly Written[]) => decodeOutcome(logs as Log[], ROUTER);

describe("the logs of a transaction", () => {
  it("with two batches give each batch its own", () => {
    const outcome = decode([
      toolPaid(100n),
      batchSettled(ROOTS[0], 100n),
      chargeFailed(ROOTS[1], 4n),
      toolPaid(200n),
      toolPaid(300n),
      batchSettled(ROOTS[1], 500n),
    ]);
    expect([...outcome.keys()]).toEqual(ROOTS);
    expect(outcome.get(ROOTS[0])).toMatchObject({ charged: 100n, failed: [], paid: [{ amount: 100n }] });
    expect(outcome.get(ROOTS[1])).toMatchObject({
      charged: 500n,
      failed: [{ chargedTo: PAYER, amount: 7n, reason: "balance" }],
      paid: [{ amount: 200n }, { amount: 300n }],
    });
  });

  it("count no direct payment to a batch, before it or after it", () => {
    const outcome = decode([
      paid(5n),
      toolPaid(5n),
      toolPaid(100n),
      batchSettled(ROOTS[0], 100n),
      paid(6n),
      toolPaid(6n),
      toolPaid(200n),
      batchSettled(ROOTS[1], 200n),
    ]);
    expect(outcome.get(ROOTS[0])?.paid.map(({ amount }) => amount)).toEqual([100n]);
    expect(outcome.get(ROOTS[1])?.paid.map(({ amount }) => amount)).toEqual([200n]);
  });

  it("mean nothing if another contract wrote them", () => {
    const outcome = decode([
      toolPaid(1n, ELSEWHERE),
      batchSettled(ROOTS[1], 1n, ELSEWHERE),
      toolPaid(100n),
      batchSettled(ROOTS[0], 100n),
    ]);
    expect([...outcome.keys()]).toEqual([ROOTS[0]]);
    expect(outcome.get(ROOTS[0])?.paid).toHaveLength(1);
  });

  it("name each refused line with the reason of its tool, which follows after all rows", () => {
    const lines: Hex = `0x${"ab".repeat(16)}${"00000000000f"}${"cd".repeat(16)}${"000000000010"}`;
    const refused = (toolId: Hex, reason: bigint): Written => ({
      address: ROUTER,
      topics: topicsOf({ abi: routerAbi, eventName: "ToolRefused", args: { batchId: ROOTS[0], toolId } }),
      data: uints(reason),
    });
    const outcome = decode([
      {
        address: ROUTER,
        topics: topicsOf({ abi: routerAbi, eventName: "LinesRefused", args: { batchId: ROOTS[0], payer: PAYER } }),
        data: encodeAbiParameters([{ type: "uint256" }, { type: "bytes" }], [0n, lines]),
      },
      refused(TOOL, 1n),
      refused(`0x${"cd".repeat(16)}`, 2n),
      batchSettled(ROOTS[0], 0n),
    ]);
    expect(outcome.get(ROOTS[0])?.refused).toEqual([
      { chargedTo: PAYER, toolId: TOOL, amount: 15n, reason: "under_staked" },
      { chargedTo: PAYER, toolId: `0x${"cd".repeat(16)}`, amount: 16n, reason: "earning_cap" },
    ]);
  });

  it("with a reason that the router does not have are not guessed at", () => {
    expect(() => decode([chargeFailed(ROOTS[0], 11n)])).toThrow("11 is no reason for a failed charge");
  });
});
