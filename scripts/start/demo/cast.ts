import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import type { Wallet } from "../../marketplace/asWallet.ts";
import { until } from "../../waiting/until.ts";
import { connectWorld } from "../../world/connectWorld.ts";
import { post } from "../../world/hosts/transact.ts";
import type { Account } from "../../world/world.ts";
import type { SavedChain } from "../stack/startSavedChain.ts";
import { PAYERS, TOOLS } from "./people.ts";
import { planMarketplace } from "./planMarketplace.ts";

export type Cast = Awaited<ReturnType<typeof createCast>>;

export const walletOf = (account: Account): Wallet => ({
  address: account.address,
  signMessage: (message) => account.signMessage(message),
});

// The people of the demo on their chain, and what they can do there. Whatever they send is mined when the promise resolves.
export async function createCast({ url, provider }: SavedChain, operator: string, signal: AbortSignal) {
  const world = await connectWorld(planMarketplace(provider, operator));
  const { usdc, router, staking, circle, parties } = world;
  const payers = PAYERS.map((payer, i) => {
    const account = world.payers[i] as Account;
    return { ...payer, account, address: account.address.toLowerCase() };
  });
  const tools = TOOLS.map((tool, i) => {
    const { toolId, developer: owner } = world.tools[i] as (typeof world.tools)[number];
    return { ...tool, owner, toolId, uuid: uuidFromToolId(toolId) };
  });
  const names = new Map<string, string>([
    ...payers.map(({ address, name }) => [address, name] as const),
    ...tools.map(({ owner, developer }) => [owner.address.toLowerCase(), developer] as const),
    ...tools.map(({ uuid, name }) => [uuid, name] as const),
    [parties.treasury.address.toLowerCase(), "the treasury"],
    [parties.insurance.address.toLowerCase(), "the insurance account"],
  ]);

  // The node signs for its own accounts, and numbers what it is given one after the other.
  const sendAll = async ({ address: from }: Account, transactions: readonly { to?: unknown; data?: unknown }[]) => {
    const hashes: unknown[] = [];
    for (const { to, data } of transactions) {
      hashes.push(...(await post(url, [["eth_sendTransaction", [{ from, to, data }]]])));
    }
    for (const hash of hashes) {
      const receipt = async () => (await post(url, [["eth_getTransactionReceipt", [hash]]]))[0];
      await until("a block with the transaction", receipt, { signal });
    }
  };
  const send = (account: Account, transaction: { to?: unknown; data?: unknown }) => sendAll(account, [transaction]);

  return {
    payers,
    tools,
    router,
    staking,
    sendAll,
    nameOf: (subject: string) => names.get(subject.toLowerCase()) ?? subject,
    approve: async ({ account }: { account: Account }, amount: bigint) =>
      send(account, await usdc.approve.populateTransaction(router, amount)),
    mint: async ({ account }: { account: Account }, amount: bigint) =>
      send(circle, await usdc.mint.populateTransaction(account, amount)),
    requestWithdrawal: async ({ owner, toolId }: { owner: Account; toolId: string }, amount: bigint) =>
      send(owner, await staking.requestWithdrawal.populateTransaction(toolId, amount)),
    cancelWithdrawal: async ({ owner, toolId }: { owner: Account; toolId: string }) =>
      send(owner, await staking.cancelWithdrawal.populateTransaction(toolId)),
  };
}
