import type { Address, Hex } from "viem";
import type { Place } from "../../domain/charges/statement.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { noReceipts, type ReceiptsView, receiptsView } from "../../views/batches/receipts.ts";
import type { Command } from "../command.ts";
import { UsageError } from "../readArguments.ts";
import { withEngine } from "../withEngine.ts";

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
const PAGE = 1_000;
const END_OF_TIME_MS = 8_640_000_000_000_000;

export const receipts: Command = {
  name: "receipts",
  usage: "<payer> [--batch <batchId>] [--from <time>] [--to <time>]",
  help: [
    "Prints a payer's receipts with what proves them against the roots on chain: one line of JSON for each batch, as the payer gets",
    "them from the API. All of its batches, the archived ones too, or one of them, or those of charges between two times.",
  ],
  positionals: { min: 1, max: 1 },
  options: { batch: { type: "string" }, from: { type: "string" }, to: { type: "string" } },
  run: ({ positionals: [payer = ""], values, output }) => {
    if (!ADDRESS.test(payer)) throw new UsageError("a payer is 0x and 40 digits");
    const account = payer.toLowerCase() as Address;
    const batch = values.batch === undefined ? null : String(values.batch).toLowerCase();
    if (batch !== null && !HASH.test(batch)) throw new UsageError("--batch is 0x and 64 digits");
    const fromMs = timeIn("--from", values.from) ?? 0;
    const toMs = timeIn("--to", values.to) ?? END_OF_TIME_MS;
    return withEngine(output, { keys: false }, async ({ engine, ledger }) => {
      const batches: ReceiptsView[] = [];
      const batchIds = batch === null ? batchesOf(ledger, account, fromMs, toMs) : [batch as Hex];
      for await (const batchId of batchIds) {
        const found = await engine.receiptsOf(batchId, account);
        if (found === null && batch !== null) throw new SettlementError("invalid_input", noReceipts(account, batch));
        // One that was taken in from the chain has none.
        if (found === null) continue;
        const view = receiptsView(found);
        batches.push(view);
        output.say(JSON.stringify(view));
      }
      return { exitCode: 0, value: { payer: account, batches } };
    });
  },
};

// Every batch that a payer's charges are in, once, in the order of the charges.
async function* batchesOf(ledger: Ledger, payer: Address, fromMs: number, toMs: number): AsyncGenerator<Hex> {
  const seen = new Set<Hex>();
  for (let after: Place | null = null; ; ) {
    const charges = await ledger.listChargesOfPayer(payer, { fromMs, toMs, after, limit: PAGE });
    for (const { state, chargedTo } of charges) {
      if (chargedTo !== payer || !("batchId" in state) || seen.has(state.batchId)) continue;
      seen.add(state.batchId);
      yield state.batchId;
    }
    const last = charges.at(-1);
    if (last === undefined || charges.length < PAGE) return;
    after = { atMs: last.accruedAtMs, id: last.id };
  }
}

function timeIn(option: string, text: string | boolean | undefined): number | null {
  if (text === undefined) return null;
  const atMs = Date.parse(String(text));
  if (Number.isNaN(atMs)) throw new UsageError(`${option} is a time, like 2026-01-31 or 2026-01-31T12:00:00Z`);
  return atMs;
}
