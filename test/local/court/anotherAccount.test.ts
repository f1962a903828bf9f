import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { id } from "ethers";
import type { Address, Hex } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { NO_HASH } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { runInProcess } from "../../commands/runInProcess.ts";
import { environmentOf, settleInProcess } from "../daemon/testDaemon.ts";
import { contestRow } from "./contestRow.ts";
import { recordWorld } from "./recordWorld.ts";

const DEPOSIT = 1_000_000n;
const [CONTESTED, ANSWERED] = [1n, 2n];

let world: LocalWorld;
let settlement: WorldEngine;
const folder = mkdtempSync(join(DISKLESS, "settlement-"));
const ledger = join(folder, "ledger.db");

beforeAll(async () => {
  world = await startWorld({ tools: 1, payers: 2, finalityBlocks: 10 });
  await recordWorld(world, "base", folder);
  settlement = await openWorldEngine(world, { ledger });
});

afterAll(async () => {
  await settlement?.close();
  await world?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const payer = (n: number) => world.payers[n] as KeyedAccount;
const stageOf = async (batchId: string) => (await world.receiptCourt.contestOf(batchId, payer(0).address)).stage;

async function settleTurns(count: number) {
  for (let i = 0; i < count; i++) {
    await settlement.engine.recordTurn({
      id: `turn-${i}`,
      payer: payer(0).address as Address,
      outcome: "delivered",
      modelCost: microUsdc(30_000n),
      tools: [{ toolId: world.tools[0]?.toolId ?? "0x", amount: microUsdc(100_000n), calls: 2 }],
      requestHash: id(`turn-${i}`) as Hex,
      responseHash: NO_HASH,
    } as never);
  }
  await settlement.settleAll();
  const [batch] = await settlement.ledger.listBatches(1, 0);
  return { batchId: batch?.batchId ?? "0x", txHash: batch?.inclusion?.txHash ?? "0x" };
}

// Whoever spends a nonce of the key now and then has settlement halted for as long as a contest lasts.
async function keepHalted(): Promise<void> {
  const operator = world.operators[0] as KeyedAccount;
  await mined(operator.sendTransaction({ to: operator.address }));
  for (let ticks = 0; ticks < 5 && (await settlement.ledger.readHalt()) === null; ticks++)
    await settlement.engine.tick();
  expect(await settlement.ledger.readHalt()).not.toBeNull();
  await world.rpc("anvil_mine", ["0x20"]);
  await settlement.engine.tick();
}

it("another account answers while a thief with the operator's key keeps settlement halted", async () => {
  const { batchId, txHash } = await settleTurns(4);
  await contestRow(world, txHash, payer(0));
  await keepHalted();
  expect(await stageOf(batchId)).toBe(CONTESTED);

  const environment = await environmentOf(world, ledger);
  const { code, stdout } = await settleInProcess(["answers"], environment);
  expect(code).toBe(0);
  const file = join(folder, "answers.jsonl");
  writeFileSync(file, stdout);
  const send = () =>
    runInProcess(["bond", "answer", file, "--network", "base", "--json"], {
      BASE_RPC_URL: world.url,
      BASE_KEY: payer(1).privateKey,
      DEPLOYMENTS_FOLDER: folder,
    });
  const sent = await send();
  expect(sent).toMatchObject({ code: 0 });
  expect(JSON.parse(sent.stdout)).toMatchObject({ answered: 1, failed: [] });
  expect(await stageOf(batchId)).toBe(ANSWERED);
  expect(await world.bonds.creditOf(world.operators[0]?.address ?? "")).toBe(DEPOSIT);

  // Nothing is left to answer, and what was answered is said to be.
  expect(await settleInProcess(["answers"], environment)).toMatchObject({ code: 0, stdout: "" });
  expect((await send()).code).toBe(1);

  // A file of something else is not taken for one in which nothing is contested.
  writeFileSync(file, "answers\n");
  expect(await send()).toMatchObject({ code: 1, stdout: expect.stringContaining("has no answers") });
});
