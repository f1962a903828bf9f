import type { Deployment } from "../../command/openDeployment.ts";
import { readLogs } from "../../command/readLogs.ts";
import type { Session } from "../../command/session.ts";
import type { PaidRow } from "./findRows.ts";
import { type Domain, type Leaf, leafOf, pathsOf, type Receipt } from "./receipts.ts";

// The receipts that the operator has shown to the court for a row. They are in the calldata of its answers, whether or not any
// marketplace hands them out.
export async function readShown(
  { provider }: Session,
  { receiptCourt, addresses }: Deployment,
  domain: Domain,
  payer: string,
  { root, block }: PaidRow,
): Promise<Leaf[]> {
  const court = receiptCourt.interface;
  const logs = await Promise.all(
    (["ReceiptsShown", "Answered"] as const).map((event) =>
      readLogs(provider, addresses.receiptCourt, court.encodeFilterTopics(event as "Answered", [root, payer]), block),
    ),
  );
  const leaves: Leaf[] = [];
  for (const hash of new Set(logs.flat().map(({ transactionHash }) => transactionHash))) {
    const transaction = await provider.getTransaction(hash);
    if (transaction?.to !== addresses.receiptCourt) continue;
    const call = court.parseTransaction({ data: transaction.data });
    if (call?.name !== "answer") continue;
    const { receipts, proof, proofFlags } = call.args[2] as {
      receipts: readonly { toObject(): Receipt }[];
      proof: readonly string[];
      proofFlags: readonly boolean[];
    };
    const read = receipts.map((receipt) => receipt.toObject());
    const hashes = read.map((receipt) => leafOf(domain, receipt));
    const paths = pathsOf(hashes, proof, proofFlags);
    leaves.push(...read.map((receipt, i) => ({ receipt, leaf: hashes[i] as string, path: paths[i] ?? [] })));
  }
  return leaves;
}
