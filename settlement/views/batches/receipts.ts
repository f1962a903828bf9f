import { z } from "zod";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import { placesOf, type ReceiptsOfRow } from "../../engine/court/receiptsOf.ts";
import { address, count, digits, hash } from "../shapes.ts";

// As the contracts write it: a UUID's 16 bytes, zeros for the model.
const toolBytes = z.string().regex(/^0x[0-9a-f]{32}$/);
const microUsdc = digits.meta({ description: "Micro-USDC, as it is hashed", examples: ["100000"] });

// What ReceiptCourt is shown, field by field, and nothing that is computed from it: whoever does not trust the service computes the
// leaves again.
export const receiptsSchema = z
  .object({
    payer: address,
    batchId: hash,
    chainId: count,
    router: address,
    operator: address,
    state: z.enum(["planned", "submitted", "included", "reverted", "final", "abandoned"]),
    txHash: hash.nullable(),
    row: count,
    lines: z.array(z.object({ toolId: toolBytes, amount: microUsdc })),
    receipts: z.array(
      z.object({
        chargeId: hash,
        payer: address,
        chargedTo: address,
        toolId: toolBytes,
        amount: microUsdc,
        calls: count,
        accruedAtMs: count,
        attempts: count,
        request: hash,
        response: hash,
        schema: hash,
        leaf: hash,
        // Which of the lines it is for.
        place: count,
        path: z.array(hash),
      }),
    ),
    proof: z.array(hash),
    proofFlags: z.array(z.boolean()),
  })
  .meta({ id: "Receipts" });

export type ReceiptsView = z.infer<typeof receiptsSchema>;

export function receiptsView(found: ReceiptsOfRow): ReceiptsView {
  return { ...aboutView(found), receipts: [...receiptViews(found)].flat() };
}

// The same as JSON, part by part: thousands of receipts with their paths are many megabytes, and others run between the parts.
export async function* receiptsJson(found: ReceiptsOfRow): AsyncGenerator<string> {
  yield `${JSON.stringify(aboutView(found)).slice(0, -1)},"receipts":[`;
  let separator = "";
  for (const some of receiptViews(found)) {
    await letOthersRun();
    yield separator + JSON.stringify(some).slice(1, -1);
    separator = ",";
  }
  yield "]}";
}

function aboutView(found: ReceiptsOfRow): Omit<ReceiptsView, "receipts"> {
  const { account, domain, submission, row, lines, receipts, tree } = found;
  const { proof, proofFlags } = tree.multiProofOf(receipts.map(({ leaf }) => leaf));
  const { state } = submission;
  return {
    payer: account,
    batchId: submission.id,
    chainId: domain.chainId,
    router: domain.router.toLowerCase(),
    operator: submission.operator,
    state: state.kind,
    txHash: "txHash" in state ? state.txHash : null,
    row,
    lines: lines.map(({ toolId, amount }) => ({ toolId, amount: `${amount}` })),
    proof,
    proofFlags,
  };
}

const RECEIPTS_AT_ONCE = 200;

function* receiptViews({ lines, receipts, tree }: ReceiptsOfRow): Generator<ReceiptsView["receipts"]> {
  const places = placesOf(lines, receipts);
  for (let start = 0; start < receipts.length; start += RECEIPTS_AT_ONCE) {
    yield receipts.slice(start, start + RECEIPTS_AT_ONCE).map((receipt, i) => ({
      ...receipt,
      amount: `${receipt.amount}`,
      calls: Number(receipt.calls),
      accruedAtMs: Number(receipt.accruedAtMs),
      attempts: Number(receipt.attempts),
      // A batch asks for what its receipts are for.
      place: places[start + i] ?? 0,
      path: tree.proofOf(receipt.leaf),
    }));
  }
}

export const noReceipts = (payer: string, batchId: string) => `there are no receipts of ${payer} in a batch ${batchId}`;
