import { describe, expect, it } from "vitest";
import { type DoubleState, examineDoubles } from "./examineDoubles.ts";
import type { Double, PaidLeaf } from "./findDoubles.ts";

describe("charges that were paid twice, before the court is asked", () => {
  const row = (batchId: string, charged: bigint, operator = "0xA") => ({ batchId, charged, operator, settledAt: 1n });
  const leafOf = (leaf: string, amount: bigint, of = row("b", 10n)) =>
    ({ leaf, receipt: { amount }, row: of }) as unknown as PaidLeaf;
  const kept = leafOf("kept", 5n);
  const doubleOf = (leaf: string, amount: bigint, of?: ReturnType<typeof row>, others: PaidLeaf[] = []): Double => ({
    chargeId: leaf,
    kept,
    doubled: leafOf(leaf, amount, of),
    others,
  });

  async function examine(doubles: Double[], answer: (double: Double) => DoubleState = () => "provable", least = 0n) {
    const asked: string[] = [];
    const seen = await examineDoubles(doubles, least, async (double) => {
      asked.push(`${double.doubled.leaf} against ${double.kept.leaf}`);
      return answer(double);
    });
    return { asked, seen: seen.map(({ chargeId, state }) => [chargeId, state]) };
  }

  it("are asked about until the row can give back no more, the largest first", async () => {
    const forged = Array.from({ length: 1_000 }, (_, i) => doubleOf(`forged ${i}`, 1n));
    const { seen } = await examine([...forged, doubleOf("large", 8n)]);
    expect(seen).toEqual([
      ["large", "provable"],
      ["forged 0", "provable"],
      ["forged 1", "provable"],
    ]);
  });

  it("are asked about no more than a bound, whatever the court says", async () => {
    const forged = Array.from({ length: 1_000 }, (_, i) => doubleOf(`forged ${i}`, 1n));
    const elsewhere = doubleOf("elsewhere", 1n, row("c", 10n));
    const { asked } = await examine([...forged, elsewhere], () => "not provable");
    expect(asked).toHaveLength(101);
    expect(asked.at(-1)).toBe("elsewhere against kept");
  });

  it("are left if they are worth less than a proof costs, or of two operators", async () => {
    const { asked, seen } = await examine(
      [doubleOf("small", 1n), doubleOf("foreign", 9n, row("b", 10n, "0xB")), doubleOf("worth it", 2n)],
      undefined,
      2n,
    );
    expect(asked).toEqual(["worth it against kept"]);
    expect(seen).toEqual([
      ["worth it", "provable"],
      ["small", "too small"],
      ["foreign", "two operators"],
    ]);
  });

  it("are set against another payment if the first was proven away", async () => {
    const third = leafOf("third", 5n);
    const later = { ...leafOf("later", 5n), row: { ...third.row, settledAt: 2n } };
    const { asked, seen } = await examine([doubleOf("c", 5n, undefined, [kept, later, third])], ({ kept: against }) =>
      against === third ? "provable" : "given back",
    );
    expect(asked).toEqual(["c against kept", "c against third"]);
    expect(seen).toEqual([["c", "provable"]]);
  });
});
