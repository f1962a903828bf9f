import { setTimeout as pause } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { createKeyring } from "../../../marketplace/signing/keyring.ts";
import { createKeystore } from "../../../settlement/chain/signer/createKeystore.ts";
import { type DeploymentRecord, readDeployment } from "../../../settlement/deployment.ts";
import { type Ask, createClient } from "../../client/createClient.ts";
import { watchdog } from "../../process/createWatchdog.ts";
import { runAgents } from "../demo/agents.ts";
import { createAnswerKey, promise, signingOf } from "../demo/answers.ts";
import { apiKeysOf } from "../demo/apiKeys.ts";
import { type Cast, createCast } from "../demo/cast.ts";
import { runFailures, undoFailures } from "../demo/failures.ts";
import { follow } from "../demo/follow.ts";
import { invitation } from "../demo/invitation.ts";
import { offerTools } from "../demo/offerTools.ts";
import { SIGNING_TOOL } from "../demo/people.ts";
import type { StartOptions } from "../options.ts";
import type { Place } from "../prepare.ts";
import { say, step, tell } from "../report.ts";
import { Interrupted, StartError } from "../StartError.ts";
import { checkLedger } from "../state/checkLedger.ts";
import { fingerprint } from "../state/fingerprint.ts";
import { createToken, readToken, requireContracts, type StateFolder, writeState } from "../state/stateFolder.ts";
import { buildMarketplace, recordPath } from "./buildMarketplace.ts";
import { BLOCK_SECONDS, CHAIN_ID, type SavedChain, startSavedChain } from "./startSavedChain.ts";
import { startDaemon, startMarketplace } from "./startServices.ts";
import type { Service } from "./supervise.ts";

export type Ending = () => void | Promise<void>;

// What ends the stack in order, from the end of the list, and what ends it at once, from its beginning.
export type Endings = { inOrder: Ending[]; atOnce: Ending[] };

const SAVE_MS = 10_000;
// Saving takes longer as the chain grows, and should never be most of what the machine does.
const SAVE_SHARE = 20;

// Starts the parts one after the other and stays until it is interrupted or one of them gives up.
export async function runStack(
  options: StartOptions,
  { paths, lock, continued, port, marketplacePort, rpcPort }: Place,
  signal: AbortSignal,
  endings: Endings,
): Promise<void> {
  const begin = async <T>(title: string, work: () => Promise<T>) => {
    if (signal.aborted) throw new Interrupted();
    return step(title, work);
  };
  const beginService = async (title: string, work: () => Promise<Service>) => {
    const service = await begin(title, work);
    endings.inOrder.push(service.stop);
    endings.atOnce.unshift(service.kill);
    return service;
  };
  if (continued) requireContracts(paths, options.folder, fingerprint());
  // The watchdog ends the services and the chain before it takes the lock away.
  watchdog().hold(paths.lock);
  lock.holdWith(watchdog().pid);
  endings.inOrder.push(() => watchdog().letGo(paths.lock));

  const chain = await begin("chain", () => startSavedChain(paths, rpcPort));
  endings.inOrder.push(chain.stop);
  endings.atOnce.push(chain.stop);
  const record = continued ? await goOn(begin, paths, chain) : await create(begin, paths, chain);
  await chain.mine();

  const running = { paths, chainUrl: chain.url, signal };
  const daemon = await beginService("daemon", () => startDaemon({ ...running, port, marketplacePort }));
  const marketplace = await beginService("marketplace", () =>
    startMarketplace({ ...running, port: marketplacePort, daemonPort: port }),
  );
  const cast = await createCast(chain, record.parties.operator, signal);
  if (continued) await begin("what was interrupted is undone", () => undoFailures(cast));
  const ask = createClient({ url: marketplace.url, serviceToken: "", persistent: signal });
  const signing = signingOf(paths, cast, record);
  const offer = { ask, cast, chainUrl: chain.url, marketplaceUrl: marketplace.url, signing, continued };
  const tools = await begin("tools served and listed", () => offerTools(offer));
  endings.inOrder.push(tools.close);
  for (const refusal of tools.refusals) tell("tools", refusal);
  await begin("signed answers promised", () => promise(chain, cast, signing, tools.methods.get(SIGNING_TOOL) ?? []));
  const keys = await begin("wallets signed in, API keys", () => apiKeysOf(paths, ask, cast));
  if (!continued) {
    await chain.save();
    writeState(paths, fingerprint());
  }

  const parts: Promise<void>[] = [];
  endings.inOrder.push(async () => void (await Promise.all(parts)));
  startWatching(options, { paths, chain, daemon, marketplace, cast, ask, keys, signal }, parts);
  await untilTheEnd(chain, [daemon, marketplace], signal);
}

async function create(begin: typeof step, paths: StateFolder, chain: SavedChain): Promise<DeploymentRecord> {
  const operator = await begin("keys and tokens", async () => {
    const privateKey = generatePrivateKey();
    const password = createToken(paths.keystorePassword);
    createToken(paths.serviceToken);
    createToken(paths.consoleToken);
    await createKeystore({ path: paths.keystore, password, privateKey });
    await createKeyring(paths.signingKeys);
    createAnswerKey(paths);
    return privateKeyToAddress(privateKey);
  });
  return buildMarketplace(begin, chain, paths.deployments, operator);
}

async function goOn(begin: typeof step, paths: StateFolder, chain: SavedChain): Promise<DeploymentRecord> {
  await begin("ledger and chain belong together", () => checkLedger(paths.ledger, chain.url));
  return readDeployment(recordPath(paths.deployments));
}

type Stack = {
  paths: StateFolder;
  chain: SavedChain;
  daemon: Service;
  marketplace: Service;
  cast: Cast;
  // Speaks to the marketplace.
  ask: Ask;
  keys: ReadonlyMap<string, string>;
  signal: AbortSignal;
};

// Everything that goes on while the stack runs, and comes to rest when it is interrupted.
function startWatching({ demo, folder }: StartOptions, stack: Stack, parts: Promise<void>[]): void {
  const { paths, chain, daemon, cast, ask, keys, signal } = stack;
  const begin = (name: string, part: Promise<void>) =>
    parts.push(
      part.catch((error: unknown) => {
        if (!signal.aborted) tell(name, `has stopped: ${error instanceof Error ? error.message : error}`);
      }),
    );
  const platform = createClient({ url: daemon.url, serviceToken: readToken(paths.serviceToken), persistent: signal });
  introduce(stack, folder);
  begin("news", follow({ ask: platform, cast, chainUrl: chain.url, signal }));
  begin("saving", saveNowAndThen(chain, signal));
  if (!demo) return;
  begin("agents", runAgents({ ask, cast, keys, signal }));
  begin("failures", runFailures({ ask, platform, cast, keys, signal }));
}

function introduce({ paths, chain, daemon, marketplace, cast }: Stack, folder: string): void {
  const rows = [
    ["marketplace", marketplace.url],
    // What is behind the # stays in the browser, which logs in with it.
    ["console", `${daemon.url}/console#token=${readToken(paths.consoleToken)}`],
    ["daemon's API", `${daemon.url}/docs`],
    ["chain", `${chain.url} (chain ${CHAIN_ID}, a block every ${BLOCK_SECONDS} s)`],
    ["state", `${folder} (npm start -- --reset starts over)`],
    ["logs", `${folder}/marketplace.log, ${folder}/daemon.log, ${folder}/anvil.log`],
    ["look inside", `npx node --env-file=${folder}/settlement.env settlement/cli/settle.mjs status`],
  ];
  const bought = cast.tools.find(({ example }) => example === "series");
  say();
  for (const [title = "", text] of rows) say(`  ${title.padEnd(14)}${text}`);
  say();
  say("Buy a call yourself:");
  say();
  say(invitation(marketplace.url, `${folder}/api-key`, bought?.uuid ?? ""));
  say();
  say("Ctrl-C stops everything, and the next npm start goes on from there.");
  say();
}

// The chain writes its state when it ends. If it is killed instead, what was saved last is not too old.
async function saveNowAndThen(chain: SavedChain, signal: AbortSignal): Promise<void> {
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

async function untilTheEnd(chain: SavedChain, services: readonly Service[], signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const chainEnded = chain.ended.then(({ code, signal: cause }) => {
    if (signal.aborted) return;
    throw new StartError(`the local chain ended by itself (${cause ?? `exit code ${code}`}): run npm start again`);
  });
  chainEnded.catch(() => undefined);
  await Promise.race([interrupted, chainEnded, ...services.map(({ failed }) => failed)]);
}
