import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Address, type Hex, keccak256, parseTransaction } from "viem";
import { until } from "../../../scripts/waiting/until.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import type { Tool } from "../../../scripts/world/world.ts";
import type { Environment } from "../../../settlement/config.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { administer, type PostgresServer, startPostgres } from "../../../settlement/ledger/testing/startPostgres.ts";
import { environmentOf } from "../../local/daemon/testDaemon.ts";
import { writeKeystore } from "../../local/world/writeKeystore.ts";
import type { Plan } from "../daemon/daemonProcess.ts";
import { type DaemonProcess, type StartProcessOptions, startDaemonProcess } from "../daemon/startDaemonProcess.ts";
import { type Asked, type RpcProxy, startRpcProxy } from "../proxies/rpcProxy.ts";
import { type Balances, type Expected, keepBalances } from "./balances.ts";
import { createPlatform, type Platform, type Turn } from "./platform.ts";
import { type Sequencer, startSequencer } from "./sequencer.ts";

// What the cases of a group share: one chain with the real token and the protocol. Each case begins with it as it was.
export type Ground = { open(): Promise<Stage>; stop(): Promise<void> };

export type StartOptions = Pick<StartProcessOptions, "asCommand" | "maxFileKiB"> & {
  plan?: Plan;
  endpoints?: readonly RpcProxy[];
  ledger?: string;
  environment?: Environment;
  // Whose key it works with; the operator's unless told.
  keystore?: keyof Keystores;
};

type Keystores = { operator: string; peer: string };

export type Stage = {
  world: LocalWorld;
  sequencer: Sequencer;
  // The node as the daemon reaches it.
  endpoint: RpcProxy;
  addEndpoint(): Promise<RpcProxy>;
  folder: string;
  // The ledger's file, unless a daemon is started with another one.
  ledger: string;
  // A server that the cases of a group share, and a new database in it.
  postgres(): Promise<{ server: PostgresServer; database: string }>;
  // The daemon that was started last.
  daemon: DaemonProcess;
  start(options?: StartOptions): Promise<DaemonProcess>;
  // As `start`, without waiting for it to listen: it may end before.
  spawn(options?: StartOptions): Promise<DaemonProcess>;
  // The operator's environment, for commands.
  environment(options?: StartOptions): Promise<Environment>;
  platform: Platform;
  payer(n: number): Address;
  tool(n: number): Tool<KeyedAccount>;
  // The daemon's key, and one that works elsewhere.
  operator: KeyedAccount;
  peer: KeyedAccount;
  // Everything that the daemon has signed and sent, each once, oldest first.
  signed(): Signed[];
  // What the nodes said to its sends, oldest first.
  outcomes(): string[];
  // Delivered turns of so many payers, one each, acknowledged by the daemon. The daemon's ticks wait meanwhile, so that
  // the next one finds all of them and makes the same batches in every run. `meanwhile` happens before the first is reported.
  recordTurns(payers?: number, meanwhile?: () => void): Promise<Turn[]>;
  turnOf(payer: number): Turn;
  // How many acknowledged turns are final with all their charges.
  finalTurns(): Promise<number>;
  // Waits until nothing is pending.
  settled(): Promise<void>;
  batches(): Promise<BatchView[]>;
  batch(batchId: string): Promise<BatchView & { nonce: number | null; txHashes: string[] }>;
  // The newest batch once it has a transaction.
  submitted(): Promise<BatchView & { nonce: number | null; txHashes: string[] }>;
  ready(): Promise<{ ready: boolean; components: Record<string, { ok: boolean; reason: string }> }>;
  metric(name: string): Promise<number>;
  // Compares what was acknowledged with the ledger and with the chain, to the unit, and throws at a difference.
  balances(expected?: Expected): Promise<Balances>;
  // The end of what every daemon has logged, for an error.
  lastWords(): string;
  close(): Promise<void>;
};

export type Signed = {
  raw: Hex;
  hash: Hex;
  nonce: number;
  to: Address | null;
  data: Hex;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
};

export type BatchView = { batchId: Hex; state: string; rows: number; charges: number; txHash: Hex | null };

export const PAYERS = 12;
export const TOOLS = 2;
// Amounts that do not divide by ten, so that every split has a remainder.
const MODEL_COST = microUsdc(2_345n);
const TOOL_AMOUNTS = [microUsdc(100_003n), microUsdc(50_001n)] as const;
export const TURN_CHARGES = 1 + TOOL_AMOUNTS.length;
const PASSWORD = "the keystore's password";

// Production's rules with shorter waits.
const POLICY = {
  batch: { minCharges: 1, maxWaitMs: 0 },
  rebroadcastMs: 150,
  stuckMs: 400,
  firstRetryMs: 200,
  maxRetryMs: 400,
  brokenRowWaitMs: 800,
  payoutEveryMs: Number.MAX_SAFE_INTEGER,
} as const;
const STUCK_BLOCKS = 3;

export async function startGround(): Promise<Ground> {
  // Nothing may cost more than its tool is listed for.
  const [toolPrice] = TOOL_AMOUNTS;
  const world = await startWorld({ tools: TOOLS, payers: PAYERS, payerBalance: 5_000_000n, operators: 2, toolPrice });
  // Transactions wait in the mempool for the next block, as they do on Base.
  await world.rpc("evm_setAutomine", [false]);
  const folder = mkdtempSync(join(DISKLESS, "faults-"));
  const [operator, peer] = world.operators;
  if (operator === undefined || peer === undefined) throw new RangeError("the local chain has too few operators");
  const keystores = { operator: join(folder, "operator.json"), peer: join(folder, "peer.json") };
  await writeKeystore(keystores.operator, operator.privateKey, PASSWORD);
  await writeKeystore(keystores.peer, peer.privateKey, PASSWORD);
  let postgres: Promise<PostgresServer> | undefined;
  let snapshot = await world.rpc("evm_snapshot");
  let cases = 0;

  return {
    async open() {
      cases += 1;
      await world.rpc("anvil_dropAllTransactions");
      if (!(await world.rpc("evm_revert", [snapshot]))) throw new Error("the chain could not be put back");
      // The states of older blocks did not come back, and the newest final block must have one.
      await world.rpc("anvil_mine", ["0x3"]);
      snapshot = await world.rpc("evm_snapshot");
      const database = `case_${cases}`;
      return openStage(world, { operator, peer }, join(folder, `${database}.db`), keystores, async () => {
        postgres ??= startPostgres();
        const server = await postgres;
        await administer(server.url, `CREATE DATABASE ${database}`);
        return { server, database };
      });
    },
    async stop() {
      await world.stop();
      await (await postgres)?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openStage(
  world: LocalWorld,
  { operator, peer }: { operator: KeyedAccount; peer: KeyedAccount },
  ledger: string,
  keystores: Keystores,
  postgres: Stage["postgres"],
): Promise<Stage> {
  const sequencer = startSequencer(world);
  const proxies: RpcProxy[] = [];
  const daemons: DaemonProcess[] = [];
  const fromBlock = BigInt(await world.provider.getBlockNumber()) + 1n;
  const creditsBefore = await creditsOf(world);
  const folder = mkdtempSync(join(DISKLESS, "fault-"));
  let turns = 0;

  const addEndpoint = async () => {
    const proxy = await startRpcProxy(world.url);
    proxies.push(proxy);
    return proxy;
  };
  const endpoint = await addEndpoint();

  const current = () => {
    const daemon = daemons.at(-1);
    if (daemon === undefined) throw new Error("no daemon was started");
    return daemon;
  };
  const ask: DaemonProcess["ask"] = (method, path, body) => current().ask(method, path, body);
  const platform = createPlatform(ask);

  const environment = async (options: StartOptions = {}): Promise<Environment> => ({
    ...(await environmentOf(world, options.ledger ?? ledger)),
    SETTLEMENT_RPC_URLS: (options.endpoints ?? [endpoint]).map(({ url }) => url).join(","),
    SETTLEMENT_KEYSTORES: keystores[options.keystore ?? "operator"],
    SETTLEMENT_KEYSTORE_PASSWORD: PASSWORD,
    SETTLEMENT_TICK_MS: "50",
    SETTLEMENT_LOG_LEVEL: "info",
    // The same name each time: a process that comes back continues its own lease.
    SETTLEMENT_HOLDER: "daemon",
    ...options.environment,
  });
  const spawn = async (options: StartOptions = {}) => {
    const { plan = {}, asCommand = false, maxFileKiB } = options;
    const daemon = startDaemonProcess({
      environment: await environment(options),
      plan: { stuckBlocks: STUCK_BLOCKS, ...plan, policy: { ...POLICY, ...plan.policy } },
      asCommand,
      ...(maxFileKiB !== undefined && { maxFileKiB }),
    });
    daemons.push(daemon);
    return daemon;
  };

  const turnOf = (payer: number): Turn => {
    turns += 1;
    return {
      turnId: `turn-${turns}`,
      payer: payerOf(payer),
      modelCost: MODEL_COST,
      tools: TOOL_AMOUNTS.map((amount, i) => ({ toolId: toolOf(i).toolId, amount })),
    };
  };
  const payerOf = (n: number) => (world.payers[n]?.address ?? "").toLowerCase() as Address;
  const toolOf = (n: number) => world.tools[n] as Tool<KeyedAccount>;
  const body = async <T>(path: string) => (await ask("GET", path)).body as unknown as T;
  const batches = async () => (await body<{ batches: BatchView[] }>("/v1/batches?limit=1000")).batches;
  const batch = (batchId: string) =>
    body<BatchView & { nonce: number | null; txHashes: string[] }>(`/v1/batches/${batchId}`);

  return {
    world,
    sequencer,
    endpoint,
    addEndpoint,
    folder,
    ledger,
    postgres,
    get daemon() {
      return current();
    },
    spawn,
    async start(options) {
      const daemon = await spawn(options);
      await daemon.listening();
      return daemon;
    },
    environment,
    platform,
    payer: payerOf,
    tool: toolOf,
    operator,
    peer,
    signed: () =>
      [...new Set(proxies.flatMap(({ asked }) => asked).flatMap(sentIn))].map((raw) => {
        const { nonce = 0, to, data = "0x", maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw);
        return { raw, hash: keccak256(raw), nonce, to: to ?? null, data, maxFeePerGas, maxPriorityFeePerGas };
      }),
    outcomes: () =>
      current()
        .events("sent")
        .map(({ outcome }) => outcome as string),
    turnOf,
    async recordTurns(payers = PAYERS, meanwhile = () => {}) {
      const made = Array.from({ length: payers }, (_, i) => turnOf(i));
      const gates = proxies.map((proxy) => proxy.hold());
      await Promise.race(gates.map(({ held }) => held));
      meanwhile();
      await Promise.all(made.map(platform.deliver));
      for (const { release } of gates) release();
      return made;
    },
    async finalTurns() {
      const turnIds = [...platform.acknowledged.turns.keys()];
      const found = await Promise.all(
        turnIds.map((turnId) => body<{ charges: { state: string }[] }>(`/v1/turns/${turnId}`)),
      );
      return found.filter(({ charges }) => charges.every(({ state }) => state === "final")).length;
    },
    async settled() {
      await until("everything to be settled", async () => {
        const { totals } = await body<{ totals: { pendingUsd: string } }>("/v1/status");
        return totals.pendingUsd === "0.00";
      });
    },
    batches,
    batch,
    submitted: () =>
      until("a batch to be submitted", async () => {
        const [newest] = await batches();
        if (newest === undefined) return null;
        const found = await batch(newest.batchId);
        return found.txHashes.length > 0 ? found : null;
      }),
    ready: () => body("/ready"),
    async metric(name) {
      const { text } = await ask("GET", "/metrics");
      const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1) ?? 0);
    },
    balances: async (expected) =>
      keepBalances(
        {
          world,
          ask,
          acknowledged: platform.acknowledged,
          fromBlock,
          creditsBefore,
          creditsNow: await creditsOf(world),
        },
        expected,
      ),
    lastWords: () =>
      daemons
        .map((daemon) => daemon.complaint() + daemon.lines.slice(-LAST_LINES).map(shortened).join("\n"))
        .join("\n—\n"),
    async close() {
      await Promise.all(
        daemons.map(async (daemon) => {
          daemon.wake();
          await daemon.kill();
        }),
      );
      await sequencer.stop();
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const sentIn = ({ method, params }: Asked): Hex[] => (method === "eth_sendRawTransaction" ? [params[0] as Hex] : []);

const LAST_LINES = 25;
const LINE_LENGTH = 300;
const shortened = (line: unknown) => JSON.stringify(line).slice(0, LINE_LENGTH);

// What everybody who can earn has earned so far.
async function creditsOf(world: LocalWorld): Promise<Map<string, bigint>> {
  const accounts = [...world.tools.map(({ developer }) => developer.address), world.parties.treasury.address];
  const credits = await Promise.all(accounts.map((account) => world.router.creditOf(account)));
  return new Map(accounts.map((account, i) => [account.toLowerCase(), credits[i] ?? 0n]));
}
