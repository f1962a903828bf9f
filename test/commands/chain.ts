import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JsonRpcProvider } from "ethers";
import { type Program, type Run, startProgram } from "../../scripts/process/startProgram.ts";
import { connectProtocol } from "../../scripts/protocol/connectProtocol.ts";
import { startAnvil } from "../../scripts/world/hosts/startAnvil.ts";
import { type KeyedAccount, PEOPLE, type Person, personOf } from "../../scripts/world/parties.ts";
import { shareUsdc } from "../../scripts/world/shareUsdc.ts";
import type { IFiatToken } from "../../typechain-types/index.ts";
import { runInProcess, type TaskRun } from "./runInProcess.ts";

export type { Person };

// A real anvil that answers as Base, and the commands: as people run them, whole programs, or as tasks in this process.

export const addressOf = (person: Person): string => personOf(person).address;

type CommandOptions = { as?: Person; input?: string; env?: NodeJS.ProcessEnv };

export type Chain = {
  url: string;
  provider: JsonRpcProvider;
  folder: string;
  wallet(person: Person): KeyedAccount;
  // Runs a command as a task in this process.
  task(command: string[], as: Person): Promise<TaskRun>;
  // Starts it as a program. Whoever starts it types into it.
  start(command: string[], options?: CommandOptions): Program;
  hardhat(command: string[], options?: CommandOptions): Promise<Run>;
  stop(): Promise<void>;
};

export async function startChain(chainId = 8453): Promise<Chain> {
  const { url, stop } = await startAnvil({ port: 0, chainId });
  const provider = new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 });
  const folder = mkdtempSync(join(tmpdir(), "commands-"));
  const environmentOf = (person: Person): NodeJS.ProcessEnv => ({
    BASE_RPC_URL: url,
    BASE_KEY: personOf(person).privateKey,
    LOCAL_RPC_URL: url,
    DEPLOYMENTS_FOLDER: join(folder, "deployments"),
  });
  const start: Chain["start"] = (command, { as = "deployer", input = "open", env = {} } = {}) =>
    startProgram(join("node_modules", ".bin", "hardhat"), command, {
      input,
      env: { ...process.env, NO_COLOR: "1", ...environmentOf(as), ...env },
    });
  return {
    url,
    provider,
    folder,
    wallet: (person) => personOf(person, provider),
    start,
    task: (command, as) => runInProcess(command, environmentOf(as)),
    hardhat: (command, options) => start(command, { input: "", ...options }).ended,
    stop: async () => {
      provider.destroy();
      rmSync(folder, { recursive: true, force: true });
      await stop();
    },
  };
}

// The real USDC where Base has it, and 1,000 of it for everybody.
export function placeUsdcAndShare({ provider, wallet }: Chain): Promise<IFiatToken> {
  const people = PEOPLE.map((person) => wallet(person));
  return shareUsdc(provider, wallet("circle"), people, 1_000_000_000n);
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

// A chain with USDC on it and the protocol deployed by the command, and what a test reads from it directly.
export async function startDeployedChain() {
  const chain = await startChain();
  const usdc = await placeUsdcAndShare(chain);
  const { code, stdout, stderr } = await chain.task([...deployCommand, "--yes", "--json"], "deployer");
  if (code !== 0) throw new Error(`deploy failed: ${stdout}${stderr}`);
  return { chain, usdc, ...connectProtocol(JSON.parse(stdout).addresses, chain.provider) };
}

// Runs a command that must succeed and returns its JSON document.
export async function succeed(chain: Chain, as: Person, ...command: string[]) {
  const run = await chain.task([...command, "--network", "base", "--json"], as);
  if (run.code !== 0) throw new Error(`${command.join(" ")} failed: ${run.stdout}${run.stderr}`);
  return JSON.parse(run.stdout);
}

// Runs a command that must fail, shows that it sent nothing, and returns its sentence.
export async function fail(chain: Chain, as: Person, ...command: string[]): Promise<string> {
  const before = await chain.provider.getTransactionCount(addressOf(as));
  const { code, stderr } = await chain.task([...command, "--network", "base"], as);
  if (code !== 1) throw new Error(`${command.join(" ")} did not fail`);
  const after = await chain.provider.getTransactionCount(addressOf(as));
  if (after !== before) throw new Error(`${command.join(" ")} failed, but sent ${after - before} transactions`);
  return stderr.trim();
}

export async function passTime({ provider }: Chain, seconds: number): Promise<void> {
  await provider.send("evm_increaseTime", [seconds]);
  await provider.send("evm_mine", []);
}
