import { dataLength } from "ethers";
import type { Deployment } from "../../command/openDeployment.ts";
import type { Call } from "../../command/transaction/simulate.ts";
import type { Double } from "./findDoubles.ts";

// Nodes take 128 KiB of a transaction, its head and signature included.
const MAX_BYTES = 128 * 1024 - 1_000;

type Court = Pick<Deployment, "addresses" | "receiptCourt">;

// What the court is sent about a charge that was paid twice: one proof, or three calls if the two batches are larger together than a
// transaction can be, as an operator may have made them.
export function proveDouble(deployment: Court, { chargeId, kept, doubled }: Double): Call[] {
  const { interface: court } = deployment.receiptCourt;
  const title = `prove that charge ${chargeId} was paid twice`;
  const both = [paidCharge(kept), paidCharge(doubled)] as const;
  const proof = court.encodeFunctionData("proveDoubleCharge", [...both]);
  if (dataLength(proof) <= MAX_BYTES) return [callOf(deployment, title, proof)];
  const shown = [kept, doubled].map(({ row, receipt }) => ({ batchId: row.batchId, receipt }));
  return [
    ...both.map((paid) =>
      callOf(deployment, `show a payment of charge ${chargeId}`, court.encodeFunctionData("showPaid", [paid])),
    ),
    callOf(deployment, title, court.encodeFunctionData("proveShownTwice", shown as never)),
  ];
}

export const paidCharge = ({ row, receipt, path }: Double["kept"]) => ({ settlement: row.settlement, receipt, path });

export const callOf = ({ addresses }: Court, title: string, data: string): Call => ({
  title,
  to: addresses.receiptCourt,
  data,
});
