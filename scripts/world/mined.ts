import type { TransactionReceipt, TransactionResponse } from "ethers";
import { until } from "../waiting/until.ts";

// The receipt of a transaction that must succeed, once it is in a block. Whoever does not wait for that asks a chain that
// may not have heard of it. It is asked for again and again, because `wait` of ethers looks only when there is a block that
// it has not seen: one that comes between its first two questions is the last on a chain that mines on demand.
export async function mined(
  sent: Promise<TransactionResponse | null> | TransactionResponse | null,
): Promise<TransactionReceipt> {
  const { hash, provider } = (await sent) ?? {};
  if (hash === undefined || provider === undefined) throw new RangeError("nothing was sent");
  const receipt = await until(`${hash} to be mined`, () => provider.getTransactionReceipt(hash));
  if (receipt.status !== 1) throw new Error(`transaction ${hash} was mined and failed`);
  return receipt;
}
