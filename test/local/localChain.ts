import { spawn } from "node:child_process";
import { HDNodeWallet, id, JsonRpcProvider, MaxUint256, type TransactionRequest, Wallet } from "ethers";
import type { Address, Hex } from "viem";
import { ADMIN_DELAY_SECONDS, deployProtocol, type Protocol } from "../../scripts/deploy/protocol.ts";
import { deployUsdc } from "../../scripts/deploy/usdc.ts";
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
// With one slot in an epoch anvil takes the block two below the head for final.
const ANVIL_ARGUMENTS = ["--chain-id", `${CHAIN_ID}`, "--slots-in-an-epoch", "1", "--gas-limit", "200000000"];
const ANVIL_MNEMONIC = "test test test test test test test test test test test junk";
const PARTIES = ["deployer", "tokenOwner", "admin", "treasury", "insurance", "guardian", "adjudicator"] as const;

const TRANSACTION_GAS = 300_000;
const ETHER = 10n ** 18n;
const MAX_BLOCKS_PER_STEP = 64;
const REQUESTS_PER_POST = 500;

// Starts anvil as Base with the real USDC and the protocol on it, tools listed and payers funded. All keys are made from
// names, so that every run has the same addresses.
export async function startLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const { operators: operatorCount = 1, operatorLimit = 1_000_000_000_000n } = options;
  const { url, stop: stopAnvil } = await startAnvil(options);
  const provider = new JsonRpcProvider(url, CHAIN_ID, { staticNetwork: true, cacheTimeout: -1, polling: true });
  provider.pollingInterval = 10;
  const stop = async () => {
    provider.destroy();
    await stopAnvil();
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
    return { ...protocol, url, chainId: CHAIN_ID, provider, usdc, parties, operators, payers, tools, rpc, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAnvil({
  anvilArguments = [],
  operators = 1,
}: LocalChainOptions): Promise<{ url: string; stop: () => Promise<void> }> {
  // Further operators take the admin's delay, so the chain starts that much earlier to end up at the present.
  const startedAt = Math.floor(Date.now() / 1_000) - (operators > 1 ? ADMIN_DELAY_SECONDS + 60 : 0);
  const anvil = spawn(
    "node_modules/.bin/anvil",
    ["--port", "0", "--timestamp", `${startedAt}`, ...ANVIL_ARGUMENTS, ...anvilArguments],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = new Promise<void>((resolve) => anvil.once("exit", () => resolve()));
  const stop = async () => {
    anvil.kill();
    await ended;
  };
  return new Promise((resolve, reject) => {
    let output = "";
    anvil.once("error", reject);
    anvil.once("exit", (code) => reject(new Error(`anvil ended with ${code}: ${output}`)));
    anvil.stdout.on("data", (chunk: Buffer) => {
      // What anvil prints afterwards has to be read as well, or it would stop at a full pipe.
      if (output.length > 100_000) return;
      output += chunk;
      const address = /Listening on (\S+)/.exec(output)?.[1];
      if (address) resolve({ url: `http://${address}`, stop });
    });
  });
}

// Anybody's transactions are taken in without a signature meanwhile, because a thousand signatures take their time.
async function withImpersonation<T>(url: string, work: () => Promise<T>): Promise<T> {
  await post(url, [["anvil_autoImpersonateAccount", [true]]]);
  await post(url, [["evm_setAutomine", [false]]]);
  const result = await work();
  await post(url, [["evm_setAutomine", [true]]]);
  await post(url, [["anvil_autoImpersonateAccount", [false]]]);
  return result;
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
  await mineAll(url, tokenOwner.address, [
    ...payers.map(({ address }) => mint(address, payerBalance)),
    ...developers.map(({ address }) => mint(address, stake)),
    mint(insurance.address, insuranceBalance),
  ]);

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
  await mineAllOf(url, [...approvals, ...listings]);

  const toolIds = await Promise.all(developers.map(({ address }) => staking.toolIdOf(address, id("tool"))));
  const tools = developers.map((developer, i) => ({ toolId: toolIds[i] as ToolId, developer, price, stake }));
  return { tools, payers };
}

type Sender = { from: string; transactions: readonly Promise<TransactionRequest>[] };

const mineAll = (url: string, from: string, transactions: Sender["transactions"]) =>
  mineAllOf(url, [{ from, transactions }]);

// Puts every transaction into the pool, mines until it is empty, and makes sure that each has succeeded.
async function mineAllOf(url: string, senders: readonly Sender[]): Promise<void> {
  const nonces = await post(
    url,
    senders.map(({ from }) => ["eth_getTransactionCount", [from, "latest"]]),
  );
  const requests = await Promise.all(
    senders.flatMap(({ from, transactions }, i) =>
      transactions.map(async (transaction, j): Promise<Request> => {
        const { to, data } = await transaction;
        const nonce = Number(nonces[i]) + j;
        return ["eth_sendTransaction", [{ from, to, data, nonce: toHex(nonce), gas: toHex(TRANSACTION_GAS) }]];
      }),
    ),
  );
  const hashes = await post(url, requests);
  for (let block = 0; block < MAX_BLOCKS_PER_STEP; block += 1) {
    const [status] = (await post(url, [["txpool_status", []]])) as [{ pending: string }];
    if (Number(status.pending) === 0) break;
    await post(url, [["evm_mine", []]]);
  }
  const receipts = (await post(
    url,
    hashes.map((hash) => ["eth_getTransactionReceipt", [hash]]),
  )) as ({ status: string } | null)[];
  const failed = receipts.findIndex((receipt) => receipt?.status !== "0x1");
  if (failed !== -1) throw new Error(`transaction ${hashes[failed]} of the local chain's setup failed`);
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

type Request = readonly [method: string, params: readonly unknown[]];

async function post(url: string, requests: readonly Request[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (let start = 0; start < requests.length; start += REQUESTS_PER_POST) {
    const some = requests.slice(start, start + REQUESTS_PER_POST);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(some.map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }))),
    });
    const answers = (await response.json()) as { id: number; result?: unknown; error?: { message: string } }[];
    for (const { error, result } of answers.toSorted((a, b) => a.id - b.id)) {
      if (error) throw new Error(error.message);
      results.push(result);
    }
  }
  return results;
}

function accountsOf(name: string, count: number): Account[] {
  return Array.from({ length: count }, (_, i) => {
    const privateKey = id(`${name} ${i}`) as Hex;
    return { privateKey, address: new Wallet(privateKey).address as Address };
  });
}

const toHex = (value: number) => `0x${value.toString(16)}`;
