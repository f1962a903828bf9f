import fc from "fast-check";
import { type Address, encodeAbiParameters, hexToBytes, padHex, parseAbiParameters, size, toHex } from "viem";
import { describe, expect, it } from "vitest";
import type { Spendable } from "../../chain/chain.ts";
import { NO_BATCH } from "../../chain/router/settleCall.ts";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import { type DueCharge, NO_HASHES } from "../../domain/charges/charge.ts";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { verifyProof } from "../watch/prove.ts";
import { type Funds, NOTHING_UNDERWAY } from "./draw.ts";
import { createMerkleTree } from "./merkleTree.ts";
import { MAX_RECEIPTS_PER_ROW, net, netInSteps } from "./net.ts";
import { encodeReceipt } from "./receipt.ts";

const DOMAIN = { chainId: 8453, router: padHex("0xcc", { size: 20 }) };
const NO_LIMIT = { limit: 10n ** 15n, room: 10n ** 15n };
const BOUNDS = {
  ...{ maxRows: 500, maxLines: 2500, maxCharges: 10_000 },
  ...NO_LIMIT,
  previous: NO_BATCH,
  domain: DOMAIN,
  underway: NOTHING_UNDERWAY,
};
const account = (n: number): Address => padHex(toHex(n + 1), { size: 20 });
const tool = (n: number) => padHex(toHex(n + 1), { size: 16 }) as ToolId;

const spendable = (
  payer: Address,
  amount: bigint,
  { refunding = 0n, isBeyondCredit = false, ...fields }: Partial<Funds> = {},
): Funds => ({ ...spendableOf(payer, amount, fields as Partial<Spendable>), refunding, isBeyondCredit });

const charge = (n: number, payer: number, amount: bigint, toolNumber: number | null = 0): DueCharge => ({
  id: padHex(toHex(n + 1), { size: 32 }),
  for: toolNumber === null ? { kind: "model" } : { kind: "tool", toolId: tool(toolNumber), calls: 1 },
  payer: account(payer),
  budgetId: null,
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
          const own = charges.filter(({ chargedTo }) => chargedTo === row.payer);
          const total = own.reduce((sum, { amount }) => sum + amount, 0n);
          expect(row.modelCost + row.lines.reduce((sum, { amount }) => sum + amount, 0n)).toBe(total);
          expect(new Set(row.lines.map(({ toolIndex }) => toolIndex)).size).toBe(row.lines.length);
        }
      }),
    );
  });

  it("gives the same root and calldata for the same charges in any order", () => {
    fc.assert(
      fc.property(chargesArbitrary, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (charges, rng) => {
        const shuffled = charges
          .map((entry) => ({ entry, place: rng.next().value as number }))
          .sort((a, b) => a.place - b.place)
          .map(({ entry }) => entry);
        const first = net(charges, everybodyCanPay(charges), BOUNDS).batch;
        const second = net(shuffled, everybodyCanPay(charges), BOUNDS).batch;
        expect(second?.batchId).toBe(first?.batchId);
        expect(second?.calldata).toBe(first?.calldata);
      }),
    );
  });

  it("gives another root once a charge has failed", () => {
    const charges = [charge(0, 0, 5n), charge(1, 1, 5n)];
    const later = charges.map((entry) => ({ ...entry, attempts: 1 }));
    const batchIdOf = (list: DueCharge[]) => net(list, everybodyCanPay(list), BOUNDS).batch?.batchId;
    expect(batchIdOf(later)).not.toBe(batchIdOf(charges));
  });

  it("stays within what an account can spend and settles what fits", () => {
    const charges = [charge(0, 0, 60n), charge(1, 0, 60n), charge(2, 0, 40n), charge(3, 1, 10n), charge(4, 0, 1n)];
    const spendableOf = new Map([
      [account(0), spendable(account(0), 100n)],
      [account(1), spendable(account(1), 10n)],
    ]);
    const { batch, unpayable } = net(charges, spendableOf, BOUNDS);
    expect(batch?.receipts.map(({ chargeId }) => chargeId)).toEqual([0, 2, 3].map((n) => charges[n]?.id));
    expect(unpayable).toEqual([1, 4].map((n) => ({ chargeId: charges[n]?.id, reason: "allowance" })));
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

  describe("of prepaid money", () => {
    const row = (due: bigint, wallet: bigint, prepaid: bigint, refunding = 0n, underway = 0n) => {
      const fields = { prepaid: microUsdc(prepaid), refunding };
      const spendableOf = new Map([[account(0), spendable(account(0), wallet, fields)]]);
      const bounds = { ...BOUNDS, underway: { ...NOTHING_UNDERWAY, prepaid: new Map([[account(0), underway]]) } };
      const charges = Array.from({ length: Number(due) }, (_, n) => charge(n, 0, 1n));
      const { batch, unpayable } = net(charges, spendableOf, bounds);
      const source = batch?.rows[0]?.prepaid === true ? "prepaid" : "wallet";
      return { source: batch === null ? null : source, total: batch?.total ?? 0n, unpayable: unpayable.length };
    };

    it.each([
      ["takes it first if it covers the row", 5n, 9n, 5n, 0n, 0n, "prepaid", 5n, 0],
      ["leaves it alone if it does not, so that one row is enough", 5n, 9n, 4n, 0n, 0n, "wallet", 5n, 0],
      ["takes what was asked back only if the wallet cannot pay", 5n, 5n, 3n, 2n, 0n, "wallet", 5n, 0],
      ["takes what was asked back rather than nothing: it was there", 5n, 0n, 0n, 5n, 0n, "prepaid", 5n, 0],
      ["takes what there is of the larger source if neither covers the row", 5n, 2n, 3n, 0n, 0n, "prepaid", 3n, 2],
      ["takes what there is of the wallet if that is larger", 5n, 4n, 3n, 0n, 0n, "wallet", 4n, 1],
      ["does not count what is underway again", 5n, 9n, 7n, 0n, 3n, "wallet", 5n, 0],
      ["waits for what is underway, and fails nobody for it", 5n, 0n, 7n, 0n, 3n, "prepaid", 4n, 0],
    ] as const)("%s", (_, due, wallet, prepaid, refunding, underway, source, total, unpayable) => {
      expect(row(due, wallet, prepaid, refunding, underway)).toEqual({ source, total, unpayable });
    });

    // The wallet may be empty again when the batch is mined, as often as its owner likes.
    it.each([
      ["all of it", 5n, 9n, 0n, 5n, 0n, 1n, "prepaid", 5n],
      ["as far as it goes, and the rest waits for the wallet", 5n, 9n, 0n, 3n, 0n, 1n, "prepaid", 3n],
      ["what was asked back and what was not", 5n, 9n, 2n, 2n, 0n, 1n, "prepaid", 4n],
      ["nothing that is underway", 5n, 9n, 0n, 5n, 5n, 1n, "wallet", 5n],
      [
        "and the wallet what is larger than all of it, because it would wait for good",
        8n,
        9n,
        0n,
        3n,
        0n,
        4n,
        "wallet",
        8n,
      ],
    ] as const)(
      "pays for more than its payer has credit for before the wallet does: %s",
      (_, due, wallet, prepaid, refunding, drawn, price, source, total) => {
        const fields = { prepaid: microUsdc(prepaid), refunding, isBeyondCredit: true };
        const spendableOf = new Map([[account(0), spendable(account(0), wallet, fields)]]);
        const underway = { ...NOTHING_UNDERWAY, prepaid: new Map([[account(0), drawn]]) };
        const charges = Array.from({ length: Number(due / price) }, (_, n) => charge(n, 0, price));
        const { batch, unpayable } = net(charges, spendableOf, { ...BOUNDS, underway });
        expect(batch).toMatchObject({ total, rows: [source === "prepaid" ? { prepaid: true } : {}] });
        expect(batch?.rows[0]?.prepaid === true ? "prepaid" : "wallet").toBe(source);
        expect(unpayable).toEqual([]);
      },
    );

    it("counts the payer's daily cap against it", () => {
      const fields = { prepaid: microUsdc(9n), dailyCapLeft: 4n };
      const spendableOf = new Map([[account(0), spendable(account(0), 0n, fields)]]);
      const { unpayable } = net([charge(0, 0, 5n)], spendableOf, BOUNDS);
      expect(unpayable).toMatchObject([{ reason: "daily_cap" }]);
    });
  });

  it("makes no row without consent for whoever demands it", () => {
    const spendableOf = new Map([[account(0), spendable(account(0), 9n, { consentRequired: true })]]);
    const { batch, unpayable } = net([charge(0, 0, 5n)], spendableOf, BOUNDS);
    expect(batch).toBeNull();
    expect(unpayable).toMatchObject([{ reason: "consent_required" }]);
  });

  it("leaves it to the router to say why the token lets nothing be taken from an account that could pay", () => {
    const limits = { allowance: 5n, balance: 5n as MicroUsdc };
    const spendableOf = new Map([[account(0), spendable(account(0), 0n, limits)]]);
    const { batch, unpayable } = net([charge(0, 0, 5n)], spendableOf, BOUNDS);
    expect(batch?.total).toBe(5n);
    expect(unpayable).toEqual([]);
  });

  it("stays within what is left of the operator's limit, longest waiting first", () => {
    const charges = [charge(0, 0, 40n), charge(1, 1, 50n), charge(2, 2, 20n), charge(3, 0, 1n)];
    const spendableOf = new Map([0, 1, 2].map((n) => [account(n), spendable(account(n), 1_000n)]));
    const { batch, waiting } = net(charges, spendableOf, { ...BOUNDS, limit: 100n, room: 95n });
    expect(batch?.total).toBe(90n);
    // Nothing that came later overtakes what has to wait, or it might wait for as long as there is something smaller.
    expect(waiting?.id).toBe(charges[2]?.id);
  });

  it("names a charge above the whole limit, which holds nobody else up", () => {
    const charges = [charge(0, 0, 101n), charge(1, 0, 100n)];
    const spendableOf = new Map([[account(0), spendable(account(0), 1_000n)]]);
    const { batch, waiting, aboveLimit } = net(charges, spendableOf, { ...BOUNDS, limit: 100n, room: 100n });
    expect(batch?.total).toBe(100n);
    expect(waiting).toBeNull();
    expect(aboveLimit.map(({ id }) => id)).toEqual([charges[0]?.id]);
  });

  it("leaves an account alone that nothing is known of", () => {
    expect(net([charge(0, 0, 5n)], new Map(), BOUNDS)).toMatchObject({ batch: null, unpayable: [] });
  });

  it("keeps every bound and leaves the rest for the next batch", () => {
    const charges = Array.from({ length: 40 }, (_, n) => charge(n, n % 10, 1n, n % 7));
    const bounds = { ...BOUNDS, maxRows: 4, maxLines: 9, maxCharges: 12 };
    let left = charges;
    let settled = 0;
    for (let tick = 0; left.length > 0; tick++) {
      expect(tick).toBeLessThan(40);
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

  it("puts no more receipts into a row than a deposit pays to have shown, and the others into the next batch", () => {
    const charges = Array.from({ length: MAX_RECEIPTS_PER_ROW + 3 }, (_, n) => charge(n, 0, 1n, n % 3));
    const others = [charge(5_000, 1, 1n), charge(5_001, 1, 1n)];
    const first = net([...charges, ...others], everybodyCanPay([...charges, ...others]), BOUNDS).batch;
    expect(first?.receipts.filter(({ chargedTo }) => chargedTo === account(0))).toHaveLength(MAX_RECEIPTS_PER_ROW);
    expect(first?.receipts.filter(({ chargedTo }) => chargedTo === account(1))).toHaveLength(2);
    const left = charges.filter(({ id }) => !first?.receipts.some(({ chargeId }) => chargeId === id));
    expect(net(left, everybodyCanPay(left), BOUNDS).batch?.receipts).toHaveLength(3);
  });

  it("leaves room for two words of each row, should all of them fail", () => {
    const charges = Array.from({ length: 2_500 }, (_, n) => charge(n, n % 1_000, 1n, n % 200));
    const bounds = { ...BOUNDS, maxRows: 1_000, maxLines: 2_500, maxCharges: 2_500 };
    const { batch } = net(charges, everybodyCanPay(charges), bounds);
    const rows = batch?.rows.length ?? 0;
    expect(rows).toBeLessThan(1_000);
    expect(size(batch?.calldata ?? "0x") + 64 * rows).toBeLessThanOrEqual(80_000);
    expect(size(batch?.calldata ?? "0x") + 64 * rows).toBeGreaterThan(79_000);
  });

  it("has room for 256 tools, because a line names its tool by one byte", () => {
    const charges = Array.from({ length: 300 }, (_, n) => charge(n, n % 3, 1n, n));
    const { batch } = net(charges, everybodyCanPay(charges), BOUNDS);
    expect(new Set(batch?.rows.flatMap(({ lines }) => lines.map(({ toolIndex }) => toolIndex))).size).toBe(256);
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
      "uint256, address, bytes32, address, address, bytes16, uint256, uint256, uint256, uint256, bytes32, bytes32, bytes32",
    );
    expect(encodeReceipt(DOMAIN, entry)).toBe(
      encodeAbiParameters(types, [
        8453n,
        DOMAIN.router,
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

  it("are the same whatever was written before them, and whatever could not be", () => {
    const plain = charge(1, 1, 5n, 1);
    const other: DueCharge = {
      ...charge(2, 2, 6n, 2),
      for: { kind: "model" },
      chargedTo: account(9),
      accruedAtMs: 7,
      attempts: 3,
      hashes: { request: plain.id, response: plain.id, schema: plain.id },
    };
    const [first, second] = [encodeReceipt(DOMAIN, plain), encodeReceipt({ ...DOMAIN, chainId: 1 }, other)];
    const unwritable = [
      { ...other, amount: microUsdc(2n ** 64n) },
      { ...other, accruedAtMs: -1 },
      { ...other, attempts: 2 ** 64 },
    ];
    for (const entry of unwritable) {
      expect(() => encodeReceipt(DOMAIN, entry)).toThrow(RangeError);
      expect(() => encodeReceipt(DOMAIN, entry)).toThrow(RangeError);
      expect(encodeReceipt(DOMAIN, plain)).toBe(first);
      expect(encodeReceipt({ ...DOMAIN, chainId: 1 }, other)).toBe(second);
    }
  });

  it("are others on another chain and under another router", () => {
    const charges = [charge(0, 0, 5n)];
    const batchIdIn = (domain: typeof DOMAIN) =>
      net(charges, everybodyCanPay(charges), { ...BOUNDS, domain }).batch?.batchId;
    const elsewhere = [
      { ...DOMAIN, chainId: 84532 },
      { ...DOMAIN, router: account(5) },
    ].map(batchIdIn);
    expect(new Set([batchIdIn(DOMAIN), ...elsewhere]).size).toBe(3);
  });

  it("prove every charge of a batch against its root, and no other", async () => {
    const charges = Array.from({ length: 33 }, (_, n) => charge(n, n % 4, BigInt(n + 1), n % 5));
    const { batch } = net(charges, everybodyCanPay(charges), BOUNDS);
    const leaves = batch?.receipts.map(({ leaf }) => leaf) ?? [];
    const tree = createMerkleTree(leaves.map((leaf) => hexToBytes(leaf)));
    expect(tree.root).toBe(batch?.batchId);
    expect(await netInSteps(charges, everybodyCanPay(charges), BOUNDS)).toEqual(
      net(charges, everybodyCanPay(charges), BOUNDS),
    );
    for (const leaf of leaves) {
      const path = tree.proofOf(leaf);
      expect(verifyProof({ root: tree.root, leaf, path })).toBe(true);
      expect(verifyProof({ root: tree.root, leaf: padHex("0x01", { size: 32 }), path })).toBe(false);
    }
  });
});
