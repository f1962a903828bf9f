import { setTimeout as pause } from "node:timers/promises";
import type { Ask } from "../client.ts";
import { tell } from "../report.ts";
import { FICKLE_PAYER, FICKLE_TOOL, FUNDS } from "./people.ts";
import { recordTurn } from "./traffic.ts";
import type { World } from "./world.ts";

export type MishapOptions = { ask: Ask; world: World; signal: AbortSignal };

const FIRST_AFTER_MS = 25_000;
const EVERY_MS = 45_000;
const LOW_STAKE_MS = 15_000;
const REVOKED_MS = 12_000;
const ABSORBED_WITHIN_MS = 240_000;
const POLL_MS = 2_000;

// What settlement is there for: now and then a tool has too little stake and its lines are refused, and a payer takes its
// allowance back after it was served; sometimes it comes back in time, and sometimes the platform absorbs the charge.
export async function runMishaps(options: MishapOptions): Promise<void> {
  const { signal } = options;
  const wait = (ms: number) => pause(ms, undefined, { signal });
  await mend(options);
  await wait(FIRST_AFTER_MS);
  while (!signal.aborted) {
    for (const mishap of [lowStake, lateAllowance, lowStake, lostAllowance]) {
      await mishap(options, wait);
      await wait(EVERY_MS);
    }
  }
}

type Wait = (ms: number) => Promise<void>;

// Whoever stopped the stack may have done so in the middle of a mishap.
async function mend({ ask, world }: MishapOptions): Promise<void> {
  const { payer, tool } = fickle(world);
  if ((await world.router.spendable(payer.address)).allowance === 0n) {
    await world.approve(payer.address, FUNDS.payerAllowance);
  }
  if ((await world.staking.tool(tool.toolId)).withdrawing > 0n) {
    await world.cancelWithdrawal(tool.owner, tool.toolId);
  }
  await ask("POST", `/v1/payers/${payer.address}/clear-debt`, {}, { idempotencyKey: `mend-${Date.now()}` });
}

async function lowStake({ ask, world, signal }: MishapOptions, wait: Wait): Promise<void> {
  const { tool } = fickle(world);
  const { stake } = await world.staking.tool(tool.toolId);
  await world.requestWithdrawal(tool.owner, tool.toolId, stake / 2n);
  tell("stake", `${tool.developer} asks for half of the stake of ${tool.name}: it is no longer paid`);
  const [payer] = world.payers;
  if (payer) await recordTurn({ ask, world, signal }, payer, [tool]);
  await wait(LOW_STAKE_MS);
  await world.cancelWithdrawal(tool.owner, tool.toolId);
  tell("stake", `${tool.developer} leaves it: ${tool.name} is paid again`);
}

async function lateAllowance({ ask, world, signal }: MishapOptions, wait: Wait): Promise<void> {
  const { payer } = fickle(world);
  await recordTurn({ ask, world, signal }, payer);
  await world.approve(payer.address, 0n);
  tell("allowance", `${payer.name} takes it back after an answer: the charge is tried again later`);
  await wait(REVOKED_MS);
  await world.approve(payer.address, FUNDS.payerAllowance);
  tell("allowance", `${payer.name} gives it again`);
}

async function lostAllowance({ ask, world, signal }: MishapOptions, wait: Wait): Promise<void> {
  const { payer } = fickle(world);
  await recordTurn({ ask, world, signal }, payer);
  await world.approve(payer.address, 0n);
  tell("allowance", `${payer.name} takes it back for good: after five attempts the platform pays`);
  let debtUsd = "0.00";
  for (let waitedMs = 0; waitedMs < ABSORBED_WITHIN_MS && debtUsd === "0.00"; waitedMs += POLL_MS) {
    await wait(POLL_MS);
    ({ debtUsd = "0.00" } = (await ask("GET", `/v1/payers/${payer.address}`)).body as { debtUsd?: string });
  }
  tell("absorbed", `the platform pays ${debtUsd} USDC to the developers for ${payer.name}, who is refused from now on`);
  await wait(REVOKED_MS);
  await world.approve(payer.address, FUNDS.payerAllowance);
  await ask("POST", `/v1/payers/${payer.address}/clear-debt`, {}, { idempotencyKey: `debt-${Date.now()}` });
  tell("debt", `${payer.name} makes good for it and may go on`);
}

function fickle({ payers, tools }: World) {
  const payer = payers.find(({ name }) => name === FICKLE_PAYER);
  const tool = tools.find(({ name }) => name === FICKLE_TOOL);
  if (!payer || !tool) throw new RangeError("the demo has a fickle payer and a fickle tool");
  return { payer, tool };
}
