import type { ChildProcess } from "node:child_process";
import { HDNodeWallet, id, JsonRpcProvider, MaxUint256, Wallet } from "ethers";
import type { Address, Hex } from "viem";
import { ADMIN_DELAY_SECONDS, deployProtocol, type Protocol } from "../../scripts/deploy/protocol.ts";
import { deployUsdc } from "../../scripts/deploy/usdc.ts";
import { startAnvil } from "../../scripts/local/startAnvil.ts";
import { mineAll, post, withImpersonation } from "../../scripts/local/transact.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import type { IFiatToken } from "../../typechain-types/index.ts";

export type Account = { address: Address; privateKey: Hex };

export type LocalTool = { toolId: ToolId; developer: Account; price: bigint; stake: bigint };

export type LocalChainOptions = {
  tools?: number;
  payers?: number;
  operators?: number;
  // What each payer, and the insurance account, has and allows the router to take, in micro-USDC.
  payerBalance?: bigint;
  payerAllowance?: bigint;
  insuranceBalance?: bigint;
  operatorLimit?: bigint;
  toolPrice?: bigint;
  anvilArguments?: readonly string[];
};

export type LocalChain = Protocol & {
  url: string;
  chainId: number;
  // The node itself, to be frozen and woken.
  process: ChildProcess;
  provider: JsonRpcProvider;
  // Connected to the account that holds every role of the token.
  usdc: IFiatToken;
  parties: Record<(typeof PARTIES)[number], HDNodeWallet>;
  operators: readonly Account[];
  payers: readonly Account[];
  tools: readonly LocalTool[];
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  stop(): Promise<void>;
};

const CHAIN_ID = 8453;
const ANVIL_MNEMONIC = "test test test test test test test test test test test junk";
const PARTIES = ["deployer", "tokenOwner", "admin", "treasury", "insurance", "guardian", "adjudicator"] as const;

const ETHER = 10n ** 18n;

// Starts anvil as Base with the real USDC and the protocol on it, tools listed and payers funded. All keys are made from
// names, so that every run has the same addresses.
export async function startLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const { operators: operatorCount = 1, operatorLimit = 1_000_000_000_000n } = options;
  // Further operators take the admin's delay, so the chain starts that much earlier to end up at the present.
  const startedAt = Math.floor(Date.now() / 1_000) - (operatorCount > 1 ? ADMIN_DELAY_SECONDS + 60 : 0);
  const anvil = await startAnvil({
    port: 0,
    chainId: CHAIN_ID,
    arguments: ["--timestamp", `${startedAt}`, ...(options.anvilArguments ?? [])],
  });
  const { url } = anvil;
  const provider = new JsonRpcProvider(url, CHAIN_ID, { staticNetwork: true, cacheTimeout: -1, polling: true });
  provider.pollingInterval = 10;
  const stop = async () => {
    provider.destroy();
    await anvil.stop();
  };

  try {
    const wallets = HDNodeWallet.fromPhrase(ANVIL_MNEMONIC, undefined, "m/44'/60'/0'/0");
    const parties = Object.fromEntries(
      PARTIES.map((name, i) => [name, wallets.deriveChild(i).connect(provider)]),
    ) as LocalChain["parties"];
    const operators = accountsOf("operator", operatorCount);
    const [firstOperator, ...furtherOperators] = operators;
    if (!firstOperator) throw new RangeError("a local chain needs an operator");

    const usdc = await deployUsdc(parties.deployer, parties.tokenOwner);
    const protocol = await deployProtocol(parties.deployer, await usdc.getAddress(), {
      admin: parties.admin.address,
      treasury: parties.treasury.address,
      insurance: parties.insurance.address,
      guardian: parties.guardian.address,
      adjudicator: parties.adjudicator.address,
      operator: firstOperator.address,
      operatorLimit,
    });
    if (furtherOperators.length > 0)
      await addOperators(provider, protocol, parties.admin, furtherOperators, operatorLimit);

    const { tools, payers } = await withImpersonation(url, () =>
      populate(url, { usdc, ...protocol }, parties, operators, options),
    );
    const rpc = (method: string, params: readonly unknown[] = []) => provider.send(method, [...params]);
    const running = { url, chainId: CHAIN_ID, process: anvil.process, provider, rpc, stop };
    return { ...protocol, ...running, usdc, parties, operators, payers, tools };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function populate(
  url: string,
  { usdc, router, staking }: Pick<Protocol, "router" | "staking"> & { usdc: IFiatToken },
  { tokenOwner, insurance }: LocalChain["parties"],
  operators: readonly Account[],
  options: LocalChainOptions,
): Promise<{ tools: LocalTool[]; payers: Account[] }> {
  const { payerBalance = 1_000_000_000n, payerAllowance = MaxUint256, toolPrice: price = 100_000n } = options;
  const { insuranceBalance = 10_000_000_000n } = options;
  const payers = accountsOf("payer", options.payers ?? 0);
  const developers = accountsOf("developer", options.tools ?? 0);
  const stake = await staking.requiredStake(price);
  const [routerAddress, stakingAddress] = await Promise.all([router.getAddress(), staking.getAddress()]);

  await post(
    url,
    [...operators, ...payers, ...developers].map(({ address }) => [
      "anvil_setBalance",
      [address, `0x${(100n * ETHER).toString(16)}`],
    ]),
  );

  const mint = (to: string, amount: bigint) => usdc.mint.populateTransaction(to, amount);
  const mints = [
    ...payers.map(({ address }) => mint(address, payerBalance)),
    ...developers.map(({ address }) => mint(address, stake)),
    mint(insurance.address, insuranceBalance),
  ];
  await mineAll(url, [{ from: tokenOwner.address, transactions: mints }]);

  const approvals = [...payers, { address: insurance.address }].map(({ address }) => ({
    from: address,
    transactions: [usdc.approve.populateTransaction(routerAddress, payerAllowance)],
  }));
  const listings = developers.map(({ address }) => ({
    from: address,
    transactions: [
      usdc.approve.populateTransaction(stakingAddress, stake),
      staking.list.populateTransaction(id("tool"), price, address, stake),
    ],
  }));
  await mineAll(url, [...approvals, ...listings]);

  const toolIds = await Promise.all(developers.map(({ address }) => staking.toolIdOf(address, id("tool"))));
  const tools = developers.map((developer, i) => ({ toolId: toolIds[i] as ToolId, developer, price, stake }));
  return { tools, payers };
}

// The deployer has given everything away, so further operators go the admin's way: announced, and done eight days later.
async function addOperators(
  provider: JsonRpcProvider,
  { manager, router }: Protocol,
  admin: HDNodeWallet,
  operators: readonly Account[],
  limit: bigint,
): Promise<void> {
  const calls = operators.map(({ address }) =>
    router.interface.encodeFunctionData("setOperatorLimit", [address, limit]),
  );
  const asAdmin = manager.connect(admin);
  for (const call of calls) await (await asAdmin.schedule(router, call, 0)).wait();
  await provider.send("evm_increaseTime", [ADMIN_DELAY_SECONDS]);
  for (const call of calls) await (await asAdmin.execute(router, call)).wait();
}

function accountsOf(name: string, count: number): Account[] {
  return Array.from({ length: count }, (_, i) => {
    const privateKey = id(`${name} ${i}`) as Hex;
    return { privateKey, address: new Wallet(privateKey).address as Address };
  });
}
