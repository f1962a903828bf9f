import { dataLength, hexlify, randomBytes } from "ethers";
import { describe, expect, it } from "vitest";
import { ReceiptCourt__factory } from "../../../typechain-types/index.ts";
import type { Double } from "./findDoubles.ts";
import { proveDouble } from "./proveDouble.ts";

const hash = () => hexlify(randomBytes(32));
const court = ReceiptCourt__factory.createInterface();
const deployment = { addresses: { receiptCourt: "0xc0" }, receiptCourt: { interface: court } } as never;
const account = `0x${"11".repeat(20)}`;

const receipt = {
  chargeId: hash(),
  payer: account,
  chargedTo: account,
  toolId: `0x${"00".repeat(16)}`,
  amount: 1n,
  calls: 1n,
  accruedAtMs: 0n,
  attempts: 0n,
  request: hash(),
  response: hash(),
  schema: hash(),
};

const paid = (bytes: number) => ({
  row: { batchId: hash(), settlement: { operator: account, call: hexlify(randomBytes(bytes)), exceptions: [] } },
  receipt,
  path: [hash()],
});

const callsFor = (bytes: number) => {
  const double = { chargeId: receipt.chargeId, kept: paid(bytes), doubled: paid(bytes) };
  const calls = proveDouble(deployment, double as unknown as Double);
  return {
    double,
    calls: calls.map(({ data }) => ({ data, parsed: court.parseTransaction({ data: data as string }) })),
  };
};

describe("the proof that a charge was paid twice", () => {
  it("is one call", () => {
    const { calls } = callsFor(10_000);
    expect(calls.map(({ parsed }) => parsed?.name)).toEqual(["proveDoubleCharge"]);
  });

  it("is shown in parts that nodes take if both batches are as large as the router lets them be", () => {
    const { double, calls } = callsFor(80_000);
    expect(calls.map(({ parsed }) => parsed?.name)).toEqual(["showPaid", "showPaid", "proveShownTwice"]);
    for (const { data } of calls) expect(dataLength(data as string)).toBeLessThan(128 * 1024);
    const batchIds = calls[2]?.parsed?.args.map(({ batchId }: { batchId: string }) => batchId);
    expect(batchIds).toEqual([double.kept.row.batchId, double.doubled.row.batchId]);
  });
});
