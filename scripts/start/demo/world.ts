import { id } from "ethers";
import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { ContextRouter__factory, IFiatToken__factory, ToolStaking__factory } from "../../../typechain-types/index.ts";
import { post } from "../../local/transact.ts";
import type { LocalChain } from "../startChain.ts";
import { PARTIES, PAYERS, TOOLS } from "./people.ts";

export type World = Awaited<ReturnType<typeof createWorld>>;

// The people of the demo with their addresses, and what they can do on the chain.
export async function createWorld(chain: LocalChain, { usdc: token, contracts }: DeploymentRecord) {
  const usdc = IFiatToken__factory.connect(token, chain.provider);
  const staking = ToolStaking__factory.connect(contracts.staking.address, chain.provider);
  const router = ContextRouter__factory.connect(contracts.router.address, chain.provider);
  const accountOf = (position: number) => (chain.accounts[position] ?? "").toLowerCase();

  const payers = PAYERS.map((payer) => ({ ...payer, address: accountOf(payer.account) }));
  const tools = await Promise.all(
    TOOLS.map(async (tool) => {
      const owner = accountOf(tool.account);
      const toolId = await staking.toolIdOf(owner, id(tool.name));
      return { ...tool, owner, toolId, uuid: uuidFromToolId(toolId) };
    }),
  );
  const names = new Map<string, string>([
    ...payers.map(({ address, name }) => [address, name] as const),
    ...tools.map(({ owner, developer }) => [owner, developer] as const),
    ...tools.map(({ uuid, name }) => [uuid, name] as const),
    [accountOf(PARTIES.treasury), "the treasury"],
    [accountOf(PARTIES.insurance), "the insurance account"],
  ]);

  // The node signs for its own accounts. Nobody waits for the block.
  const send = async (from: string, { to, data }: { to?: unknown; data?: unknown }) => {
    await post(chain.url, [["eth_sendTransaction", [{ from, to, data }]]]);
  };

  return {
    payers,
    tools,
    usdc,
    router,
    staking,
    nameOf: (subject: string) => names.get(subject.toLowerCase()) ?? subject,
    approve: async (payer: string, amount: bigint) =>
      send(payer, await usdc.approve.populateTransaction(contracts.router.address, amount)),
    mint: async (to: string, amount: bigint) =>
      send(accountOf(PARTIES.tokenOwner), await usdc.mint.populateTransaction(to, amount)),
    requestWithdrawal: async (owner: string, toolId: string, amount: bigint) =>
      send(owner, await staking.requestWithdrawal.populateTransaction(toolId, amount)),
    cancelWithdrawal: async (owner: string, toolId: string) =>
      send(owner, await staking.cancelWithdrawal.populateTransaction(toolId)),
  };
}
