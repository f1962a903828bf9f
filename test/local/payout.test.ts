import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_HASH } from "../../settlement/domain/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";
import { openTestEngine, type TestEngine } from "./testEngine.ts";

const HOUR_MS = 3_600_000;
const THRESHOLD = microUsdc(1_000_000n);

// Three developers have earned: one enough, one enough but blacklisted, one too little.
const [RICH, BARRED, POOR] = [0, 1, 2];

describe("bulk payouts", () => {
  let chain: LocalChain;
  let settlement: TestEngine;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "settlement-"));
    chain = await startLocalChain({ tools: 3, payers: 1 });
    settlement = await openTestEngine(chain, {
      ledger: join(folder, "ledger.db"),
      policy: { payoutEveryMs: HOUR_MS, payoutThreshold: THRESHOLD },
    });
    const amounts = [2_000_000n, 2_000_000n, 1_000_000n];
    await settlement.engine.recordTurn({
      id: "turn",
      payer: chain.payers[0]?.address ?? "0x",
      outcome: "delivered",
      modelCost: microUsdc(0n),
      tools: chain.tools.map(({ toolId }, i) => ({ toolId, amount: microUsdc(amounts[i] ?? 0n), calls: 1 })),
      requestHash: NO_HASH,
      responseHash: NO_HASH,
    });
    await settlement.settleAll();
    await chain.usdc.blacklist(developer(BARRED));
  });

  afterAll(async () => {
    await settlement?.close();
    await chain?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("wait for their time", async () => {
    await settlement.engine.tick();
    expect(await chain.router.creditOf(developer(RICH))).toBe(1_800_000n);
  });

  it("push what is above the threshold, and a developer whom the token refuses stops nobody", async () => {
    settlement.clock.advance(HOUR_MS);
    await settlement.engine.tick();
    await settlement.engine.tick();
    expect(await chain.usdc.balanceOf(developer(RICH))).toBe(1_800_000n);
    expect(await chain.router.creditOf(developer(RICH))).toBe(0n);
    expect(await chain.router.creditOf(developer(BARRED))).toBe(1_800_000n);
    expect(await chain.router.creditOf(developer(POOR))).toBe(900_000n);
  });

  it("are not sent when nobody has earned enough", async () => {
    await chain.usdc.unBlacklist(developer(BARRED));
    await chain.router.payout([developer(BARRED)]);
    const nonce = await chain.provider.getTransactionCount(chain.operators[0]?.address ?? "");
    settlement.clock.advance(HOUR_MS);
    await settlement.engine.tick();
    expect(await chain.provider.getTransactionCount(chain.operators[0]?.address ?? "")).toBe(nonce);
  });

  const developer = (n: number | undefined) => {
    const tool = chain.tools[n ?? -1];
    if (!tool) throw new RangeError("no such developer");
    return tool.developer.address;
  };
});
