import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HDNodeWallet, JsonRpcProvider, Mnemonic } from "ethers";
import { connectProtocol } from "../../scripts/deploy/protocol.ts";
import { placeUsdc } from "../../scripts/local/placeUsdc.ts";
import { startAnvil } from "../../scripts/local/startAnvil.ts";
import { NETWORKS } from "../../scripts/networks.ts";
import type { IFiatToken } from "../../typechain-types/index.ts";

// A real anvil that answers as Base, and the commands as people run them: whole programs, started anew each time.

const MNEMONIC = Mnemonic.fromPhrase("test test test test test test test test test test test junk");

export const PEOPLE = [
  "deployer",
  "admin",
  "treasury",
  "insurance",
  "operator",
  "guardian",
  "adjudicator",
  "contributor",
  "payer",
  "circle",
] as const;

export type Person = (typeof PEOPLE)[number];

const walletOf = (person: Person) => HDNodeWallet.fromMnemonic(MNEMONIC, `m/44'/60'/0'/0/${PEOPLE.indexOf(person)}`);

export const addressOf = (person: Person): string => walletOf(person).address;

export type Run = { code: number | null; stdout: string; stderr: string };

export type Running = {
  child: ChildProcess;
  // Resolves when the program has printed the text `count` times.
  printed(text: string, count?: number): Promise<void>;
  ended: Promise<Run>;
};

export type Chain = {
  url: string;
  provider: JsonRpcProvider;
  folder: string;
  wallet(person: Person): HDNodeWallet;
  start(command: string[], options?: { as?: Person; env?: NodeJS.ProcessEnv }): Running;
  hardhat(command: string[], options?: { as?: Person; input?: string; env?: NodeJS.ProcessEnv }): Promise<Run>;
  stop(): Promise<void>;
};

export async function startChain(chainId = 8453): Promise<Chain> {
  const { url, stop } = await startAnvil({ port: 0, chainId });
  const provider = new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 });
  const folder = mkdtempSync(join(tmpdir(), "commands-"));
  const start: Chain["start"] = (command, { as = "deployer", env = {} } = {}) =>
    run(command, {
      BASE_RPC_URL: url,
      BASE_KEY: walletOf(as).privateKey,
      LOCAL_RPC_URL: url,
      DEPLOYMENTS_FOLDER: join(folder, "deployments"),
      ...env,
    });
  return {
    url,
    provider,
    folder,
    wallet: (person) => walletOf(person).connect(provider),
    start,
    hardhat: async (command, { input, ...options } = {}) => {
      const { child, ended } = start(command, options);
      child.stdin?.end(input ?? "");
      return ended;
    },
    stop: async () => {
      provider.destroy();
      rmSync(folder, { recursive: true, force: true });
      await stop();
    },
  };
}

// The real USDC where Base has it, and 1,000 of it for everybody.
export async function placeUsdcAndShare(chain: Chain): Promise<IFiatToken> {
  const usdc = await placeUsdc(chain.provider, chain.wallet("circle"), NETWORKS.base.usdc);
  for (const person of PEOPLE) await (await usdc.mint(addressOf(person), 1_000_000_000n)).wait();
  return usdc;
}

export const deployCommand = [
  "deploy",
  "--network",
  "base",
  ...(["admin", "treasury", "insurance", "operator", "guardian", "adjudicator"] as const).flatMap((party) => [
    `--${party}`,
    addressOf(party),
  ]),
];

// A chain with USDC on it and the protocol deployed by the real command, and what a test reads from it directly.
export async function startDeployedChain() {
  const chain = await startChain();
  const usdc = await placeUsdcAndShare(chain);
  const { code, stdout, stderr } = await chain.hardhat([...deployCommand, "--yes", "--json"]);
  if (code !== 0) throw new Error(`deploy failed: ${stdout}${stderr}`);
  return { chain, usdc, ...connectProtocol(JSON.parse(stdout).addresses, chain.provider) };
}

// Runs a command that has to succeed and returns its JSON document.
export async function succeed(chain: Chain, as: Person, ...command: string[]) {
  const run = await chain.hardhat([...command, "--network", "base", "--json"], { as });
  if (run.code !== 0) throw new Error(`${command.join(" ")} failed: ${run.stdout}${run.stderr}`);
  return JSON.parse(run.stdout);
}

// Runs a command that has to fail, shows that it sent nothing, and returns its sentence.
export async function fail(chain: Chain, as: Person, ...command: string[]): Promise<string> {
  const before = await chain.provider.getTransactionCount(addressOf(as));
  const { code, stderr } = await chain.hardhat([...command, "--network", "base"], { as, input: "y\n" });
  if (code !== 1) throw new Error(`${command.join(" ")} did not fail`);
  const after = await chain.provider.getTransactionCount(addressOf(as));
  if (after !== before) throw new Error(`${command.join(" ")} failed, but sent ${after - before} transactions`);
  return stderr.trim();
}

export async function passTime({ provider }: Chain, seconds: number): Promise<void> {
  await provider.send("evm_increaseTime", [seconds]);
  await provider.send("evm_mine", []);
}

function run(command: string[], env: NodeJS.ProcessEnv): Running {
  const child = spawn(join("node_modules", ".bin", "hardhat"), command, {
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let heard = () => {};
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
    heard();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = once(child, "close").then(([code]): Run => ({ code, stdout, stderr }));
  const printed = (text: string, count = 1) =>
    Promise.race([
      new Promise<void>((resolve) => {
        heard = () => {
          if (stdout.split(text).length > count) resolve();
        };
        heard();
      }),
      ended.then(({ stdout, stderr }) => {
        if (stdout.split(text).length <= count)
          throw new Error(`ended without printing "${text}":\n${stdout}${stderr}`);
      }),
    ]);
  return { child, printed, ended };
}
