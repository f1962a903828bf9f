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
import { fingerprint } from "./fingerprint.ts";
import { follow } from "./follow.ts";
import type { StartOptions } from "./options.ts";
import { populate } from "./populate.ts";
import type { Place } from "./prepare.ts";
import { say, step, tell } from "./report.ts";
import { Interrupted, StartError } from "./StartError.ts";
import { BLOCK_SECONDS, CHAIN_ID, type LocalChain, startChain } from "./startChain.ts";
import { startLeash } from "./startLeash.ts";
import { type Service, startService } from "./startService.ts";
import { createToken, readToken, requireContracts, type StateFolder, writeState } from "./stateFolder.ts";

export type Ending = () => void | Promise<void>;

// What ends the stack in order, from the end of the list, and what ends it at once, from its beginning.
export type Endings = { inOrder: Ending[]; atOnce: Ending[] };

const SAVE_MS = 10_000;
// Saving takes longer as the chain grows, and should never be most of what the machine does.
const SAVE_SHARE = 20;

// Starts the parts one after the other and stays until it is interrupted or one of them gives up.
export async function runStack(
  options: StartOptions,
  { paths, lock, continued, port, rpcPort }: Place,
  signal: AbortSignal,
  endings: Endings,
): Promise<void> {
  const begin = async <T>(title: string, work: () => Promise<T>) => {
    if (signal.aborted) throw new Interrupted();
    return step(title, work);
  };
  if (continued) requireContracts(paths, options.folder, fingerprint());
  const leash = startLeash(paths.lock);
  lock.holdWith(leash.pid);
  endings.inOrder.push(leash.letGo);

  const chain = await begin("chain", () => startChain(paths, rpcPort));
  leash.hold("chain", chain.pid);
  endings.inOrder.push(chain.stop);
  endings.atOnce.push(chain.stop);
  const record = continued ? await goOn(begin, paths, chain) : await create(begin, paths, chain);
  await chain.mine();

  const service = await begin("daemon", () =>
    startService({ paths, chainUrl: chain.url, port, signal, onProcess: (pid) => leash.hold("daemon", pid) }),
  );
  endings.inOrder.push(service.stop);
  endings.atOnce.unshift(service.kill);
  if (!continued) {
    await chain.save();
    writeState(paths, fingerprint());
  }

  const parts: Promise<void>[] = [];
  endings.inOrder.push(async () => void (await Promise.all(parts)));
  await startWatching(options, { paths, chain, record, service, signal }, parts);
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
  await begin("tools listed and staked, payers funded", () => populate(chain, record));
  return record;
}

async function goOn(begin: Begin, paths: StateFolder, chain: LocalChain): Promise<DeploymentRecord> {
  await begin("ledger and chain belong together", () => checkLedger(paths.ledger, chain.url));
  return readDeployment(recordPath(paths.deployments));
}

type Stack = { paths: StateFolder; chain: LocalChain; record: DeploymentRecord; service: Service; signal: AbortSignal };

// Everything that goes on while the stack runs, and comes to rest when it is interrupted.
async function startWatching({ demo, folder }: StartOptions, stack: Stack, parts: Promise<void>[]): Promise<void> {
  const { paths, chain, record, service, signal } = stack;
  const begin = (name: string, part: Promise<void>) =>
    parts.push(
      part.catch((error: unknown) => {
        if (!signal.aborted) tell(name, `has stopped: ${error instanceof Error ? error.message : error}`);
      }),
    );
  const ask = createClient(service.url, readToken(paths.serviceToken), signal);
  const world = await createWorld(chain, record);
  await introduce(stack, folder);
  begin("news", follow({ ask, world, chainUrl: chain.url, signal }));
  begin("saving", saveNowAndThen(chain, signal));
  if (!demo) return;
  const keys = await apiKeysOf(paths.apiKeys, ask, world);
  begin("traffic", runTraffic({ ask, world, keys, signal }));
  begin("mishaps", runMishaps({ ask, world, signal }));
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
