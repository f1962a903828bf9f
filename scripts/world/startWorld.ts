import { id, JsonRpcProvider, MaxUint256 } from "ethers";
import type { Program } from "../process/startProgram.ts";
import { ADMIN_DELAY_SECONDS } from "../protocol/description.ts";
import { buildWorld } from "./buildWorld.ts";
import { connectWorld } from "./connectWorld.ts";
import { createNodeHost } from "./hosts/nodeHost.ts";
import { startAnvil } from "./hosts/startAnvil.ts";
import { type KeyedAccount, namedAccounts, partiesOf, personOf } from "./parties.ts";
import { findTemplate, keepTemplate } from "./template.ts";
import type { Plan, World } from "./world.ts";

export type WorldOptions = {
  tools?: number;
  payers?: number;
  operators?: number;
  // What each payer, and the insurance account, has and allows the router to take, in micro-USDC.
  payerBalance?: bigint;
  payerAllowance?: bigint;
  insuranceBalance?: bigint;
  operatorLimit?: bigint;
  toolPrice?: bigint;
  // How far the final block is behind the head.
  finalityBlocks?: number;
};

// A world and the anvil that it is on.
export type LocalWorld = World<KeyedAccount> & {
  url: string;
  chainId: number;
  // The node itself, to be frozen and woken.
  node: Program;
  provider: JsonRpcProvider;
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  stop(): Promise<void>;
};

const CHAIN_ID = 8453;
// A node that was started from a file has no state of older blocks, and the newest final block must have one.
const BLOCKS_TO_FINALITY = "0x3";
// Whatever is asked for up to here is a part of one template.
const TEMPLATE = { tools: 20, payers: 100, operators: 2 } as const;

// Starts anvil as Base with a world on it. All keys are made from names, so that every run has the same addresses. Where
// templates are kept, the first who asks builds one and everybody else loads it, which takes a tenth of the time.
export async function startWorld(options: WorldOptions = {}): Promise<LocalWorld> {
  const { tools = 0, payers = 0, operators = 1 } = options;
  const whole = {
    ...options,
    tools: Math.max(tools, TEMPLATE.tools),
    payers: Math.max(payers, TEMPLATE.payers),
    operators: Math.max(operators, TEMPLATE.operators),
  };
  const template = findTemplate(whole);
  if (template.kind === "found") return start(options, { load: template.path });
  if (template.kind === "none") return start(options, {});
  const built = await start(whole, {});
  try {
    keepTemplate(template.path, (await built.rpc("anvil_dumpState")) as string);
  } finally {
    await built.stop();
  }
  return start(options, { load: template.path });
}

async function start(options: WorldOptions, { load }: { load?: string }): Promise<LocalWorld> {
  // Other operators take the admin's delay, so the chain starts that much earlier to end up at the present.
  const waits = (options.operators ?? 1) > 1 ? ADMIN_DELAY_SECONDS + 60 : 0;
  const from =
    load === undefined ? ["--timestamp", `${Math.floor(Date.now() / 1_000) - waits}`] : ["--load-state", load];
  const anvil = await startAnvil({
    port: 0,
    chainId: CHAIN_ID,
    arguments: from,
    ...(options.finalityBlocks !== undefined && { finalityBlocks: options.finalityBlocks }),
  });
  const { url } = anvil;
  const provider = new JsonRpcProvider(url, CHAIN_ID, { staticNetwork: true, cacheTimeout: -1, polling: true });
  provider.pollingInterval = 10;
  const rpc = (method: string, params: readonly unknown[] = []) => provider.send(method, [...params]);
  const stop = async () => {
    provider.destroy();
    await anvil.stop();
  };
  try {
    const plan = planOf(options, provider);
    if (load !== undefined) await rpc("anvil_mine", [BLOCKS_TO_FINALITY]);
    const world = await (load === undefined
      ? buildWorld(createNodeHost<KeyedAccount>(url, provider), plan)
      : connectWorld(plan));
    return { ...world, url, chainId: CHAIN_ID, node: anvil, provider, rpc, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function planOf(options: WorldOptions, provider: JsonRpcProvider): Plan<KeyedAccount> {
  const { payerBalance = 1_000_000_000n, payerAllowance = MaxUint256, toolPrice = 100_000n } = options;
  const { insuranceBalance = 10_000_000_000n, operatorLimit = 1_000_000_000_000n, operators = 1 } = options;
  const parties = partiesOf(provider);
  const accountsOf = (name: string, count = 0) => namedAccounts(name, count, provider);
  return {
    parties,
    circle: personOf("circle", provider),
    operators: [parties.operator, ...accountsOf("operator", operators).slice(1)],
    operatorLimit,
    tools: accountsOf("developer", options.tools).map((developer) => ({
      developer,
      salt: id("tool"),
      price: toolPrice,
    })),
    payers: accountsOf("payer", options.payers).map((account) => ({
      account,
      balance: payerBalance,
      allowance: payerAllowance,
    })),
    insurance: { balance: insuranceBalance, allowance: payerAllowance },
  };
}
