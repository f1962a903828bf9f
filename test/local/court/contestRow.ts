import { type Address, createPublicClient, type Hex, http } from "viem";
import { mined } from "../../../scripts/world/mined.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import type { LocalWorld } from "../../../scripts/world/startWorld.ts";
import { exceptionsOf } from "../../../settlement/chain/court/exceptionsOf.ts";

// How a batch was settled, from its transaction alone.
export async function settlementOf(world: LocalWorld, txHash: string) {
  const client = createPublicClient({ transport: http(world.url) });
  const [{ from, input }, { logs }] = await Promise.all([
    client.getTransaction({ hash: txHash as Hex }),
    client.getTransactionReceipt({ hash: txHash as Hex }),
  ]);
  return { operator: from, call: input, exceptions: exceptionsOf(input, logs) };
}

// Somebody demands receipts for what an account paid in the batch of this transaction, with a deposit of its own.
export async function contestRow(
  world: LocalWorld,
  txHash: string,
  account: KeyedAccount,
  { by = account, wait = true } = {},
) {
  const { receiptCourt, bonds, usdc } = world;
  await mined(usdc.connect(by).approve(bonds, await receiptCourt.DEPOSIT()));
  const sent = await receiptCourt.connect(by).contest(await settlementOf(world, txHash), account.address as Address);
  if (wait) await mined(sent);
  return sent;
}
