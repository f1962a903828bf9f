// `npm start`: the whole stack on this machine, from the chain to the traffic. Everything that is started is ended again,
// in the reverse order, however this process ends.
import { setTimeout as pause } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { createKeystore } from "../../settlement/chain/createKeystore.ts";
import { type DeploymentRecord, readDeployment } from "../../settlement/deployment.ts";
import { checkLedger } from "./checkLedger.ts";
import { createClient } from "./client.ts";
import { apiKeysOf } from "./demo/apiKeys.ts";
import { runMishaps } from "./demo/mishaps.ts";
import { runTraffic } from "./demo/traffic.ts";
import { createWorld } from "./demo/world.ts";
import { deployLocal, recordPath } from "./deployLocal.ts";
import { follow } from "./follow.ts";
import { takeLock } from "./lock.ts";
import { HELP, readOptions, type StartOptions } from "./options.ts";
import { takePort } from "./ports.ts";
import { say, step, tell } from "./report.ts";
import { Interrupted, StartError } from "./StartError.ts";
import { BLOCK_SECONDS, CHAIN_ID, type LocalChain, startChain } from "./startChain.ts";
import { startLeash } from "./startLeash.ts";
import { type Service, startService } from "./startService.ts";
import {
  clear,
  createToken,
  hasStack,
  openStateFolder,
  readToken,
  type StateFolder,
  writeState,
} from "./stateFolder.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const SAVE_MS = 10_000;
// Saving takes longer as the chain grows, and should never be most of what the machine does.
const SAVE_SHARE = 20;
const KILL_MS = 2_000;
const INTERRUPTED = 130;

type Ending = () => void | Promise<void>;

async function main(args: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  const endings: Ending[] = [];
  const killers: Ending[] = [];
  for (const signal of SIGNALS) process.on(signal, () => onSignal(interrupt, killers));
  try {
    const options = readOptions(args);
    if (options.help) {
      say(HELP);
      return 0;
    }
    await run(options, interrupt.signal, endings, killers);
  } catch (error) {
    if (error instanceof Interrupted) return 0;
    if (!(error instanceof StartError)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    if (interrupt.signal.aborted && endings.length > 0) say("\nStopping …");
    for (const end of endings.reverse()) await end();
    if (interrupt.signal.aborted && endings.length > 0) say("Stopped. npm start goes on from here.");
  }
  return 0;
}

// The first asks, the second insists. The chain is asked even then, because it writes its state down in a moment.
function onSignal(interrupt: AbortController, killers: readonly Ending[]): void {
  if (!interrupt.signal.aborted) {
    interrupt.abort();
    return;
  }
  void Promise.race([Promise.all(killers.map((kill) => kill())), pause(KILL_MS)]).finally(() =>
    process.exit(INTERRUPTED),
  );
}

async function run(options: StartOptions, signal: AbortSignal, endings: Ending[], killers: Ending[]): Promise<void> {
  const begin = async <T>(title: string, work: () => Promise<T>) => {
    if (signal.aborted) throw new Interrupted();
    return step(title, work);
  };
  const paths = openStateFolder(options.folder);
  const lock = takeLock(paths.lock, options.folder);
  endings.push(lock.release);
  if (options.reset) clear(paths);
  const continued = hasStack(paths, options.folder);
  if (!continued) clear(paths);
  const rpcPort = await takePort("--rpc-port", options.rpcPort);
  const port = await takePort("--port", options.port);
  const leash = startLeash(paths.lock);
  lock.holdWith(leash.pid);
  endings.push(leash.letGo);

  say(continued ? `Continuing from ${options.folder}.` : "Starting for the first time.");
  const chain = await begin("chain", () => startChain(paths, rpcPort));
  leash.hold("chain", chain.pid);
  endings.push(chain.stop);
  killers.push(chain.stop);
  const record = continued ? await goOn(begin, paths, chain) : await create(begin, paths, chain);
  await chain.mine();

  const service = await begin("daemon", () =>
    startService({ paths, chainUrl: chain.url, port, signal, onProcess: (pid) => leash.hold("daemon", pid) }),
  );
  endings.push(service.stop);
  killers.unshift(service.kill);
  if (!continued) {
    await chain.save();
    writeState(paths);
  }

  const parts = await startWatching(options, { paths, chain, record, service, signal });
  endings.push(async () => void (await Promise.allSettled(parts)));
  await untilTheEnd(chain, service, signal);
}

type Begin = <T>(title: string, work: () => Promise<T>) => Promise<T>;

async function create(begin: Begin, paths: StateFolder, chain: LocalChain): Promise<DeploymentRecord> {
  const operator = await begin("operator's key and tokens", async () => {
    const privateKey = generatePrivateKey();
    const password = createToken(paths.keystorePassword);
    createToken(paths.serviceToken);
    createToken(paths.consoleToken);
    await createKeystore({ path: paths.keystore, password, privateKey });
    return privateKeyToAddress(privateKey);
  });
  const record = await begin("real USDC and the contracts", () => deployLocal(chain, paths.deployments, operator));
  const { populate } = await import("./populate.ts");
  await begin("tools listed and staked, payers funded", () => populate(chain, record));
  return record;
}

async function goOn(begin: Begin, paths: StateFolder, chain: LocalChain): Promise<DeploymentRecord> {
  await begin("ledger and chain belong together", () => checkLedger(paths.ledger, chain.url));
  return readDeployment(recordPath(paths.deployments));
}

type Stack = { paths: StateFolder; chain: LocalChain; record: DeploymentRecord; service: Service; signal: AbortSignal };

// Everything that goes on while the stack runs, and comes to rest when it is interrupted.
async function startWatching({ demo, folder }: StartOptions, stack: Stack): Promise<Promise<void>[]> {
  const { paths, chain, record, service, signal } = stack;
  const ask = createClient(service.url, readToken(paths.serviceToken), signal);
  const world = await createWorld(chain, record);
  const parts = [follow({ ask, world, chainUrl: chain.url, signal }), saveNowAndThen(chain, signal)];
  await introduce(stack, folder);
  if (demo) {
    const keys = await apiKeysOf(paths.apiKeys, ask, world);
    parts.push(runTraffic({ ask, world, keys, signal }), runMishaps({ ask, world, signal }));
  }
  return parts;
}

async function introduce({ paths, chain, service }: Stack, folder: string): Promise<void> {
  const console = await fetch(`${service.url}/console/`, { redirect: "manual" });
  await console.body?.cancel();
  const rows = [
    ...(console.status < 400 ? [["console", `${service.url}/console/#token=${readToken(paths.consoleToken)}`]] : []),
    ["API", `${service.url}/docs`],
    ["chain", `${chain.url} (chain ${CHAIN_ID}, a block every ${BLOCK_SECONDS} s)`],
    ["state", `${folder} (npm start -- --reset begins anew)`],
    ["logs", `${folder}/daemon.log, ${folder}/anvil.log`],
    ["look inside", `SETTLEMENT_CONFIG=${folder}/settlement.json npm run --silent settle -- status`],
  ];
  say();
  for (const [title = "", text] of rows) say(`  ${title.padEnd(14)}${text}`);
  say();
  say("Ctrl-C stops everything, and the next npm start goes on from there.");
  say();
}

// The chain writes its state when it ends. If it is killed instead, what was saved last is not too old.
async function saveNowAndThen(chain: LocalChain, signal: AbortSignal): Promise<void> {
  let waitMs = SAVE_MS;
  while (!signal.aborted) {
    try {
      await pause(waitMs, undefined, { signal });
      const startedAtMs = performance.now();
      await chain.save();
      waitMs = Math.max(SAVE_MS, SAVE_SHARE * (performance.now() - startedAtMs));
    } catch (error) {
      if (!signal.aborted) tell("chain", `its state was not saved: ${error instanceof Error ? error.message : error}`);
    }
  }
}

async function untilTheEnd(chain: LocalChain, service: Service, signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const chainEnded = chain.ended.then(({ code, signal: cause }) => {
    if (signal.aborted) return;
    throw new StartError(`The local chain ended by itself (${cause ?? `exit code ${code}`}): run npm start again.`);
  });
  chainEnded.catch(() => undefined);
  await Promise.race([interrupted, chainEnded, service.failed]);
}

process.exitCode = await main(process.argv.slice(2));
