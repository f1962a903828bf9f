import type { Address, Hex } from "viem";
import { describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import type { ContestView } from "../../../settlement/views/batches/contest.ts";
import type { ReceiptsView } from "../../../settlement/views/batches/receipts.ts";
import { contestRow, settlementOf } from "../court/contestRow.ts";
import { settleInProcess } from "./testDaemon.ts";
import { NOBODY, useDaemon } from "./useDaemon.ts";

const ANSWERED = 2n;

describe("receipts over HTTP", () => {
  const { place, ask, payerOf, turnOf, untilFinal } = useDaemon();
  const pathOf = (payer: string, batchId: string) => `/v1/payers/${payer}/batches/${batchId}/receipts`;

  async function settleFor(turnId: string, n: number): Promise<string> {
    await ask("POST", "/v1/turns", turnOf(turnId, payerOf(n)));
    await untilFinal(turnId);
    const { body } = await ask("GET", `/v1/turns/${turnId}`);
    return (body as unknown as { charges: { batchId: string }[] }).charges[0]?.batchId ?? "";
  }

  const receiptsOf = async (n: number, batchId: string) =>
    (await ask("GET", pathOf(payerOf(n), batchId))).body as unknown as ReceiptsView;

  it("are what the court takes for an answer, and for a proof of each", async () => {
    const batchId = await settleFor("of-zero", 0);
    const { receipts, lines, proof, proofFlags, ...about } = await receiptsOf(0, batchId);
    const { world } = place();
    expect(about).toMatchObject({
      payer: payerOf(0),
      batchId,
      chainId: world.chainId,
      router: (await world.router.getAddress()).toLowerCase(),
      operator: world.operators[0]?.address.toLowerCase(),
      state: "final",
    });
    expect(receipts.map(({ amount }) => amount).sort()).toEqual(["100000", "12345"]);
    for (const { leaf, place: _, path: __, ...receipt } of receipts) {
      expect(await world.receiptCourt.leafOf(receipt)).toBe(leaf);
    }
    // What the row asks for is what the court reads from the transaction.
    const settlement = await settlementOf(world, about.txHash ?? "");
    const charged = await world.receiptCourt.chargedIn(settlement, payerOf(0));
    expect(charged.lines.map(({ toolId, amount }) => ({ toolId, amount: `${amount}` }))).toEqual(lines);

    const [first] = receipts;
    const { leaf, place: _, path, ...receipt } = first ?? ({} as ReceiptsView["receipts"][number]);
    // One and the same, so it proves no double charge; but it is in the batch and was paid.
    const paid = { settlement, receipt, path };
    await expect(world.receiptCourt.proveDoubleCharge.staticCall(paid, paid)).rejects.toMatchObject({
      revert: { name: "NotDouble" },
    });
    const forged = { ...paid, receipt: { ...receipt, calls: 7 } };
    await expect(world.receiptCourt.proveDoubleCharge.staticCall(forged, forged)).rejects.toMatchObject({
      revert: { name: "ReceiptNotInBatch" },
    });

    await contestRow(world, about.txHash ?? "", world.payers[0] as KeyedAccount);
    const shown = { lines, receipts, places: receipts.map(({ place: line }) => line), proof, proofFlags };
    // The daemon may have been faster with the very same.
    const operator = world.operators[0] as KeyedAccount;
    await world.receiptCourt
      .connect(operator)
      .answer.staticCall(batchId, payerOf(0), shown)
      .catch((error) => expect(error).toMatchObject({ revert: { name: "NotContested" } }));
    await until("the daemon to answer", async () => {
      const { stage } = await world.receiptCourt.contestOf(batchId, payerOf(0));
      return stage === ANSWERED;
    });
  });

  it("of a contest are listed with its answer, and an alert was raised for it", async () => {
    const listed = await until("the answer to be noted", async () => {
      const { contests } = (await ask("GET", "/v1/contests")).body as unknown as { contests: ContestView[] };
      return contests[0]?.answer?.txHash ? contests : null;
    });
    expect(listed).toMatchObject([{ payer: payerOf(0), chargedUsd: "0.112345", answers: 1 }]);
    const alert = place().daemon.lines.find((line) => line.includes('"alert":"contested"'));
    expect(alert).toContain(payerOf(0));
    expect((await ask("GET", "/metrics")).text).toMatch(/^settlement_open_contests [01]$/m);
  });

  it("of a batch are each payer's own, and nobody else's", async () => {
    const turns = [1, 2].map((n) => ask("POST", "/v1/turns", turnOf(`together-${n}`, payerOf(n))));
    await Promise.all(turns);
    for (const n of [1, 2]) await untilFinal(`together-${n}`);
    for (const n of [1, 2]) {
      const batchId = await settleFor(`together-${n}`, n);
      const { receipts, lines } = await receiptsOf(n, batchId);
      expect(new Set(receipts.map(({ chargedTo }) => chargedTo))).toEqual(new Set([payerOf(n)]));
      const sum = receipts.reduce((total, { amount }) => total + BigInt(amount), 0n);
      expect(lines.reduce((total, { amount }) => total + BigInt(amount), 0n)).toBe(sum);
      expect(await ask("GET", pathOf(payerOf(3), batchId))).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    expect(await ask("GET", pathOf(NOBODY, `0x${"1".repeat(64)}`))).toMatchObject({ status: 404 });
    expect(await ask("GET", pathOf(NOBODY, "0x12"))).toMatchObject({ status: 400 });
  });

  it("are exported by the command line, batch by batch, as the API has them", async () => {
    const batchId = await settleFor("exported", 3);
    const { environment } = place();
    const all = await settleInProcess(["receipts", payerOf(3)], environment);
    expect(all.stderr).toBe("");
    const exported = all.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as ReceiptsView);
    expect(exported).toEqual([await receiptsOf(3, batchId)]);
    const one = await settleInProcess(["receipts", payerOf(3), "--batch", batchId, "--json"], environment);
    expect(JSON.parse(one.stdout)).toEqual({ payer: payerOf(3), batches: exported });
    const none = await settleInProcess(["receipts", payerOf(3), "--to", "2020-01-01"], environment);
    expect(none).toMatchObject({ code: 0, stdout: "" });
    const unknown = await settleInProcess(["receipts", NOBODY as Address, "--batch", batchId as Hex], environment);
    expect(unknown).toMatchObject({ code: 1 });
    expect((await settleInProcess(["receipts", "me"], environment)).code).toBe(2);
  });
});
