import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { Milestone } from "../../settlement/engine/context.ts";
import { openLedger } from "../../settlement/ledger/openLedger.ts";
import type { EngineProcessOptions } from "./engineProcess.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";
import { recordTurns } from "./recordTurns.ts";
import { startEngineProcess } from "./startEngineProcess.ts";

const MILESTONES: readonly Milestone[] = [
  "before_plan",
  "after_plan",
  "before_sign",
  "after_sign",
  "after_save",
  "after_send",
  "before_inclusion",
  "after_inclusion",
  "before_finalize",
  "after_finalize",
];
const PAYERS = 5;
const AMOUNT = microUsdc(100_000n);

describe("an engine that is killed", () => {
  let chain: LocalChain;
  let folder: string;
  let mining: NodeJS.Timeout;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "settlement-"));
    chain = await startLocalChain({ tools: 1, payers: PAYERS });
    mining = setInterval(() => void chain.rpc("anvil_mine", ["0x1"]).catch(() => undefined), 50);
  });

  afterAll(async () => {
    clearInterval(mining);
    await chain?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(MILESTONES)("at %s has settled everything once after a restart", async (crashAt) => {
    const options = await processOptions(crashAt);
    const before = await chain.usdc.balanceOf(chain.router);
    const ledger = await openLedger(options.ledger);
    await recordTurns(ledger, chain, AMOUNT);

    expect(await startEngineProcess({ ...options, crashAt }).ended).toEqual({ code: null, signal: "SIGKILL" });
    expect(await startEngineProcess(options).ended).toEqual({ code: 0, signal: null });

    const totals = await ledger.totals();
    await ledger.close();
    expect(totals).toMatchObject({ pending: 0n, settled: BigInt(PAYERS) * AMOUNT, absorbed: 0n, refused: 0n });
    expect((await chain.usdc.balanceOf(chain.router)) - before).toBe(BigInt(PAYERS) * AMOUNT);
  });

  async function processOptions(name: string): Promise<EngineProcessOptions> {
    return {
      chainId: chain.chainId,
      rpcUrl: chain.url,
      router: (await chain.router.getAddress()) as Address,
      ledger: join(folder, `${name}.db`),
      keys: chain.operators.map(({ privateKey }) => ({ kind: "plain", privateKey })),
      // The same name each time: a process that comes back continues its own lease.
      holder: "engine",
      policy: { rebroadcastMs: 100, payoutEveryMs: Number.MAX_SAFE_INTEGER },
    };
  }
});
