import fc from "fast-check";
import { type Address, encodeAbiParameters, type Hex, padHex, parseAbiParameters, toHex } from "viem";
import { describe, expect, it } from "vitest";
import type { Spendable } from "../chain/chain.ts";
import { type DueCharge, NO_HASHES } from "../domain/charge.ts";
import { type MicroUsdc, microUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import { net } from "./net.ts";
import { verifyProof } from "./prove.ts";
import { encodeReceipt, receiptsTree } from "./receipt.ts";

const BOUNDS = { maxRows: 500, maxLines: 2500, maxCharges: 10_000 };
const account = (n: number): Address => padHex(toHex(n + 1), { size: 20 });
const tool = (n: number) => padHex(toHex(n + 1), { size: 16 }) as ToolId;

const spendable = (payer: Address, amount: bigint, limits: Partial<Spendable> = {}): Spendable => ({
  payer,
  amount: amount as MicroUsdc,
  balance: amount as MicroUsdc,
  allowance: amount,
  dailyCapLeft: 2n ** 256n - 1n,
  ...limits,
});

const charge = (n: number, payer: number, amount: bigint, toolNumber: number | null = 0): DueCharge => ({
  id: padHex(toHex(n + 1), { size: 32 }),
  for: toolNumber === null ? { kind: "model" } : { kind: "tool", toolId: tool(toolNumber), calls: 1 },
  payer: account(payer),
  chargedTo: account(payer),
  amount: microUsdc(amount),
  hashes: NO_HASHES,
  accruedAtMs: 1_700_000_000_000,
  attempts: 0,
});

const everybodyCanPay = (charges: readonly DueCharge[]) =>
  new Map(charges.map(({ chargedTo }) => [chargedTo, spendable(chargedTo, 2n ** 48n - 1n)]));

const chargesArbitrary = fc
  .array(
    fc.record({
      payer: fc.nat(8),
      tool: fc.option(fc.nat(12), { nil: null }),
      amount: fc.bigInt(1n, 1_000_000n),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((entries) => entries.map((entry, n) => charge(n, entry.payer, entry.amount, entry.tool)));

describe("net", () => {
  it("adds up every charge once: by row, by line and in total", () => {
    fc.assert(
      fc.property(chargesArbitrary, (charges) => {
        const { batch, unpayable } = net(charges, everybodyCanPay(charges), BOUNDS);
        expect(unpayable).toEqual([]);
        expect(batch?.receipts.map(({ chargeId }) => chargeId)).toEqual(charges.map(({ id }) => id));
        expect(batch?.total).toBe(charges.reduce((sum, { amount }) => sum + amount, 0n));
        for (const row of batch?.rows ?? []) {
          const own = charges.filter(({ chargedTo }) => chargedTo === row.chargedTo);
          expect(row.total).toBe(own.reduce((sum, { amount }) => sum + amount, 0n));
          expect(row.modelCost + row.lines.reduce((sum, { amount }) => sum + amount, 0n)).toBe(row.total);
          expect(new Set(row.lines.map(({ toolId }) => toolId)).size).toBe(row.lines.length);
        }
      }),
    );
  });

  it("gives the same root and calldata for the same charges in any order", () => {
    fc.assert(
      fc.property(
        chargesArbitrary,
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        (charges, chance) => {
          const shuffled = charges
            .map((entry) => ({ entry, place: chance.next().value as number }))
            .sort((a, b) => a.place - b.place)
            .map(({ entry }) => entry);
          const first = net(charges, everybodyCanPay(charges), BOUNDS).batch;
          const second = net(shuffled, everybodyCanPay(charges), BOUNDS).batch;
          expect(second?.root).toBe(first?.root);
          expect(second?.calldata).toBe(first?.calldata);
        },
      ),
    );
  });

  it("gives another root once a charge has failed", () => {
    const charges = [charge(0, 0, 5n), charge(1, 1, 5n)];
    const later = charges.map((entry) => ({ ...entry, attempts: 1 }));
    const rootOf = (list: DueCharge[]) => net(list, everybodyCanPay(list), BOUNDS).batch?.root;
    expect(rootOf(later)).not.toBe(rootOf(charges));
  });

  it("stays within what an account can spend and settles what fits", () => {
    const charges = [charge(0, 0, 60n), charge(1, 0, 60n), charge(2, 0, 40n), charge(3, 1, 10n)];
    const spendableOf = new Map([
      [account(0), spendable(account(0), 100n)],
      [account(1), spendable(account(1), 10n)],
    ]);
    const { batch, unpayable } = net(charges, spendableOf, BOUNDS);
    expect(batch?.receipts.map(({ chargeId }) => chargeId)).toEqual([0, 2, 3].map((n) => charges[n]?.id));
    expect(unpayable).toEqual([{ chargeId: charges[1]?.id, reason: "allowance" }]);
  });

  it.each([
    ["daily_cap", { dailyCapLeft: 4n }],
    ["allowance", { allowance: 4n, dailyCapLeft: 5n }],
    ["balance", { allowance: 5n, balance: 4n as MicroUsdc }],
  ] as const)("names %s as the reason why an account cannot pay", (reason, limits) => {
    const spendableOf = new Map([[account(0), spendable(account(0), 0n, limits)]]);
    const { batch, unpayable } = net([charge(0, 0, 5n)], spendableOf, BOUNDS);
    expect(batch).toBeNull();
    expect(unpayable).toEqual([{ chargeId: charge(0, 0, 5n).id, reason }]);
  });

  it("leaves it to the router to say why the token lets nothing be taken from an account that could pay", () => {
    const limits = { allowance: 5n, balance: 5n as MicroUsdc };
    const spendableOf = new Map([[account(0), spendable(account(0), 0n, limits)]]);
    const { batch, unpayable } = net([charge(0, 0, 5n)], spendableOf, BOUNDS);
    expect(batch?.total).toBe(5n);
    expect(unpayable).toEqual([]);
  });

  it("leaves an account alone that nothing is known of", () => {
    expect(net([charge(0, 0, 5n)], new Map(), BOUNDS)).toEqual({ batch: null, unpayable: [] });
  });

  it("keeps every bound and leaves the rest for the next batch", () => {
    const charges = Array.from({ length: 40 }, (_, n) => charge(n, n % 10, 1n, n % 7));
    const bounds = { maxRows: 4, maxLines: 9, maxCharges: 12 };
    let left = charges;
    let settled = 0;
    for (let round = 0; left.length > 0; round++) {
      expect(round).toBeLessThan(40);
      const { batch } = net(left, everybodyCanPay(left), bounds);
      const taken = new Set(batch?.receipts.map(({ chargeId }) => chargeId));
      expect(batch?.rows.length).toBeLessThanOrEqual(bounds.maxRows);
      expect(batch?.rows.flatMap(({ lines }) => lines).length).toBeLessThanOrEqual(bounds.maxLines);
      expect(taken.size).toBeLessThanOrEqual(bounds.maxCharges);
      settled += taken.size;
      left = left.filter(({ id }) => !taken.has(id));
    }
    expect(settled).toBe(charges.length);
  });

  it("has room for 256 tools, because a line names its tool by one byte", () => {
    const charges = Array.from({ length: 300 }, (_, n) => charge(n, n % 3, 1n, n));
    const { batch } = net(charges, everybodyCanPay(charges), BOUNDS);
    expect(batch?.toolIds.length).toBe(256);
    expect(batch?.receipts.length).toBe(256);
  });
});

describe("receipts", () => {
  it("are what abi.encode writes in Solidity", () => {
    const entry: DueCharge = {
      ...charge(41, 3, 123_456n, 9),
      chargedTo: account(77),
      attempts: 2,
      hashes: {
        request: padHex("0xaa", { size: 32 }),
        response: padHex("0xbb", { size: 32 }),
        schema: NO_HASHES.schema,
      },
    };
    const types = parseAbiParameters(
      "bytes32, address, address, bytes16, uint256, uint256, uint256, uint256, bytes32, bytes32, bytes32",
    );
    expect(encodeReceipt(entry)).toBe(
      encodeAbiParameters(types, [
        entry.id,
        entry.payer,
        entry.chargedTo,
        tool(9),
        entry.amount,
        1n,
        BigInt(entry.accruedAtMs),
        2n,
        entry.hashes.request,
        entry.hashes.response,
        entry.hashes.schema,
      ]),
    );
  });

  it("prove every charge of a batch against its root, and no other", () => {
    const charges = Array.from({ length: 33 }, (_, n) => charge(n, n % 4, BigInt(n + 1), n % 5));
    const { batch } = net(charges, everybodyCanPay(charges), BOUNDS);
    const leaves = batch?.receipts.map(({ leaf }) => leaf) ?? [];
    const tree = receiptsTree(leaves);
    for (const leaf of leaves) {
      const path = tree.getProof(leaf) as Hex[];
      expect(verifyProof({ root: tree.root as Hex, leaf, path })).toBe(true);
      expect(verifyProof({ root: tree.root as Hex, leaf: padHex("0x01", { size: 32 }), path })).toBe(false);
    }
  });
});
