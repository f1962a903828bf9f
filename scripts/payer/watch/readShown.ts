import { ReceiptCourt__factory } from "../../../typechain-types/index.ts";
import type { Deployment } from "../../command/openDeployment.ts";
import { readLogs } from "../../command/readLogs.ts";
import type { Session } from "../../command/session.ts";
import { findCalls } from "../../receipts/findCalls.ts";
import type { PaidRow } from "../../receipts/findRows.ts";
import { type Domain, isInBatch, type Leaf, leafOf, pathsOf, type Receipt } from "../../receipts/receipts.ts";

const court = ReceiptCourt__factory.createInterface();
const { selector } = court.getFunction("answer");
const ROOT_AT = selector.length - "0x".length;
const WORD_DIGITS = 64;

type Answer = {
  receipts: readonly { toObject(): Receipt }[];
  proof: readonly string[];
  proofFlags: readonly boolean[];
};

// The receipts that were shown to the court for a row. They are in the calldata of the answers, whoever gave them and whether or not
// any marketplace hands them out. One that was shown in several answers, because somebody began again, counts once.
export async function readShown(
  session: Session,
  { addresses }: Pick<Deployment, "addresses">,
  domain: Domain,
  payer: string,
  { batchId, block }: Pick<PaidRow, "batchId" | "block">,
): Promise<Leaf[]> {
  const logs = await Promise.all(
    (["ReceiptsShown", "Answered"] as const).map((event) =>
      readLogs(
        session.provider,
        addresses.receiptCourt,
        court.encodeFilterTopics(event as "Answered", [batchId, payer]),
        block,
      ),
    ),
  );
  const shown = new Map<string, Leaf>();
  for (const hash of new Set(logs.flat().map(({ transactionHash }) => transactionHash))) {
    const isIt = (call: string) => call.slice(ROOT_AT, ROOT_AT + WORD_DIGITS) === batchId.slice(2);
    for await (const call of findCalls(session, { hash, to: addresses.receiptCourt, selector, isIt })) {
      for (const leaf of leavesOf(domain, call)) if (isInBatch(batchId, leaf)) shown.set(leaf.leaf, leaf);
    }
  }
  return [...shown.values()].filter(({ receipt }) => receipt.chargedTo.toLowerCase() === payer.toLowerCase());
}

// What only looks like an answer, as whoever gives one from within a contract can have it, shows nothing.
function leavesOf(domain: Domain, data: string): Leaf[] {
  const answer = answerIn(data);
  if (answer === null) return [];
  const { read, proof, proofFlags } = answer;
  const hashes = read.map((receipt) => leafOf(domain, receipt));
  const paths = pathsOf(hashes, proof, proofFlags);
  return read.map((receipt, i) => ({ receipt, leaf: hashes[i] as string, path: paths[i] ?? [] }));
}

function answerIn(data: string): (Omit<Answer, "receipts"> & { read: Receipt[] }) | null {
  try {
    const call = court.parseTransaction({ data });
    if (call?.name !== "answer") return null;
    const { receipts, proof, proofFlags } = call.args[2] as Answer;
    return { read: receipts.map((receipt) => receipt.toObject()), proof: [...proof], proofFlags: [...proofFlags] };
  } catch {
    return null;
  }
}
