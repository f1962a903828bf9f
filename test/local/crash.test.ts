import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_HASH } from "../../settlement/domain/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { Milestone } from "../../settlement/engine/context.ts";
import { openLedger } from "../../settlement/ledger/openLedger.ts";
import type { EngineProcessOptions } from "./engineProcess.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";

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
    await accrue(options, crashAt);

    expect(await run({ ...options, crashAt })).toEqual({ code: null, signal: "SIGKILL" });
    expect(await run(options)).toEqual({ code: 0, signal: null });

    const ledger = await openLedger(options.ledger);
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

  async function accrue({ ledger: location }: EngineProcessOptions, name: string): Promise<void> {
    const ledger = await openLedger(location);
    for (const [i, { address }] of chain.payers.entries()) {
      const toolId = chain.tools[0]?.toolId;
      if (!toolId) throw new RangeError("no such tool");
      const tools = [{ toolId, amount: AMOUNT, calls: 1 }];
      const hashes = { requestHash: NO_HASH, responseHash: NO_HASH } as const;
      const turn = { id: `${name}-${i}`, payer: address, modelCost: microUsdc(0n), tools, ...hashes };
      await ledger.recordTurn({ ...turn, outcome: "delivered" }, Date.now());
    }
    await ledger.close();
  }
});

function run(options: EngineProcessOptions): Promise<{ code: number | null; signal: string | null }> {
  const child = spawn("node_modules/.bin/node", ["test/local/engineProcess.ts", JSON.stringify(options)], {
    stdio: "inherit",
  });
  return new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
}
