import type { Address } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Program } from "../../../scripts/process/startProgram.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import type { Ledger } from "../../../settlement/ledger/ledger.ts";
import { createPostgresStore, type Store } from "../../../settlement/ledger/testing/backends.ts";
import { mineBlocks } from "../world/mineBlocks.ts";
import type { EngineProcessOptions } from "./engineProcess.ts";
import { recordTurns } from "./recordTurns.ts";
import { startEngineProcess } from "./startEngineProcess.ts";

const PAYERS = 40;
const AMOUNT = microUsdc(100_000n);
const DONE = { code: 0, signal: null, stderr: "" };

describe("two daemons on one PostgreSQL with two operator keys", () => {
  let world: LocalWorld;
  let store: Store;
  let ledger: Ledger;
  let mining: ReturnType<typeof mineBlocks>;
  let processes: Program[] = [];

  beforeEach(async () => {
    world = await startWorld({ tools: 1, payers: PAYERS, operators: 2 });
    store = await createPostgresStore();
    ledger = await store.open();
    await recordTurns(ledger, world, AMOUNT);
    mining = mineBlocks(world, { everyMs: 50 });
  });

  afterEach(async () => {
    await mining?.stop();
    await Promise.all(processes.map((process) => process.kill()));
    processes = [];
    await store?.remove();
    await world?.stop();
  });

  it("settle everything once, with both keys", async () => {
    const [first, second] = [await start("first", 0), await start("second", 1)];
    expect([await first.ended, await second.ended]).toMatchObject([DONE, DONE]);
    await settledOnce();
    const operators = new Set((await ledger.listBatches(100, 0)).map(({ operator }) => operator));
    expect(operators.size).toBe(2);
  });

  it("settle everything once when one of them is killed and the other takes its key over", async () => {
    const victim = await start("victim", 0, { crashAt: "after_send" });
    expect((await victim.ended).signal).toBe("SIGKILL");
    const heir = await start("heir", 0);
    expect(await heir.ended).toMatchObject(DONE);
    await settledOnce();
  });

  async function start(holder: string, firstKey: number, extra: Partial<EngineProcessOptions> = {}) {
    const keys = [world.operators[firstKey], world.operators[1 - firstKey]];
    const started = startEngineProcess({
      chainId: world.chainId,
      rpcUrl: world.url,
      router: (await world.router.getAddress()) as Address,
      ledger: store.location,
      keys: keys.flatMap((key) => (key ? [{ kind: "plain" as const, privateKey: key.privateKey }] : [])),
      holder,
      policy: {
        // Several batches, so that there is something to share.
        bounds: { maxRows: 4, maxLines: 100, maxCharges: 100 },
        maxInFlight: 1,
        leaseMs: 1_500,
        rebroadcastMs: 100,
        payoutEveryMs: Number.MAX_SAFE_INTEGER,
      },
      ...extra,
    });
    processes.push(started);
    return started;
  }

  async function settledOnce() {
    const due = BigInt(PAYERS) * AMOUNT;
    expect(await ledger.readTotals()).toMatchObject({
      accrued: due,
      settled: due,
      pending: 0n,
      absorbed: 0n,
      refused: 0n,
    });
    expect(await world.usdc.balanceOf(world.router)).toBe(due);
  }
});
