import { setTimeout as pause } from "node:timers/promises";
import type { Ask } from "../../client/createClient.ts";
import { tell } from "../report.ts";
import { type AgentOptions, buy } from "./agents.ts";
import type { Cast } from "./cast.ts";
import { FICKLE_PAYER, FICKLE_TOOL, FUNDS } from "./people.ts";

export type FailureOptions = AgentOptions & { platform: Ask };

const FIRST_AFTER_MS = 25_000;
const EVERY_MS = 45_000;
const LOW_STAKE_MS = 15_000;
const REVOKED_MS = 12_000;
const ABSORBED_WITHIN_MS = 240_000;
const POLL_MS = 2_000;
const CALLS = 3;

// What settlement is there for: now and then a tool has too little stake and its lines are refused, and a payer takes its
// allowance back after it was served; sometimes it comes back in time, and sometimes the platform absorbs the charge.
export async function runFailures(options: FailureOptions): Promise<void> {
  const { signal } = options;
  const wait = (ms: number) => pause(ms, undefined, { signal });
  await clearDebt(options, "fix");
  await wait(FIRST_AFTER_MS);
  while (!signal.aborted) {
    for (const failure of [lowStake, lateAllowance, lowStake, lostAllowance]) {
      await failure(options, wait);
      await wait(EVERY_MS);
    }
  }
}

type Wait = (ms: number) => Promise<void>;

// Whoever stopped the stack may have done so in the middle of a failure. The marketplace lists no tool whose stake is too low, so this
// comes before the tools are offered again.
export async function undoFailures(cast: Cast): Promise<void> {
  const { payer, tool } = fickle(cast);
  if ((await cast.router.spendable(payer.address)).allowance === 0n) {
    await cast.approve(payer, FUNDS.payerAllowance);
  }
  if ((await cast.staking.tool(tool.toolId)).withdrawing > 0n) {
    await cast.cancelWithdrawal(tool);
  }
}

async function clearDebt({ platform, cast }: FailureOptions, reason: string): Promise<void> {
  const { address } = fickle(cast).payer;
  await platform("POST", `/v1/payers/${address}/clear-debt`, {}, { idempotencyKey: `${reason}-${Date.now()}` });
}

async function lowStake(options: FailureOptions, wait: Wait): Promise<void> {
  const { cast } = options;
  const { tool } = fickle(cast);
  const { stake } = await cast.staking.tool(tool.toolId);
  await cast.requestWithdrawal(tool, stake / 2n);
  tell("stake", `${tool.developer} asks for half of the stake of ${tool.name}: it is no longer paid`);
  const [payer] = cast.payers;
  if (payer) await buySome(options, payer);
  await wait(LOW_STAKE_MS);
  await cast.cancelWithdrawal(tool);
  tell("stake", `${tool.developer} leaves it: ${tool.name} is paid again`);
}

async function lateAllowance(options: FailureOptions, wait: Wait): Promise<void> {
  const { cast } = options;
  const { payer } = fickle(cast);
  await buySome(options, payer);
  await cast.approve(payer, 0n);
  tell("allowance", `${payer.name} takes it back after some calls: the charge is tried again later`);
  await wait(REVOKED_MS);
  await cast.approve(payer, FUNDS.payerAllowance);
  tell("allowance", `${payer.name} gives it again`);
}

async function lostAllowance(options: FailureOptions, wait: Wait): Promise<void> {
  const { cast, platform } = options;
  const { payer } = fickle(cast);
  await buySome(options, payer);
  await cast.approve(payer, 0n);
  tell("allowance", `${payer.name} takes it back and keeps it: after five attempts the platform pays`);
  let debtUsd = "0.00";
  for (let waitedMs = 0; waitedMs < ABSORBED_WITHIN_MS && debtUsd === "0.00"; waitedMs += POLL_MS) {
    await wait(POLL_MS);
    ({ debtUsd = "0.00" } = (await platform("GET", `/v1/payers/${payer.address}`)).body as { debtUsd?: string });
  }
  tell("absorbed", `the platform pays ${debtUsd} USDC to the developers for ${payer.name}, who is refused from now on`);
  await wait(REVOKED_MS);
  await cast.approve(payer, FUNDS.payerAllowance);
  await clearDebt(options, "debt");
  tell("debt", `${payer.name} pays the debt and may go on`);
}

// Calls that are owed before anything else happens.
async function buySome(options: FailureOptions, payer: Cast["payers"][number]): Promise<void> {
  const { tool } = fickle(options.cast);
  const args = { from: "2026-01-31", to: "2026-07-31" };
  for (let calls = 0; calls < CALLS; calls += 1) {
    await buy(options, payer, { toolId: tool.uuid, toolName: "year_fraction", args });
  }
}

function fickle({ payers, tools }: Cast) {
  const payer = payers.find(({ name }) => name === FICKLE_PAYER);
  const tool = tools.find(({ example }) => example === FICKLE_TOOL);
  if (!payer || !tool) throw new RangeError("the demo has a fickle payer and a fickle tool");
  return { payer, tool };
}
