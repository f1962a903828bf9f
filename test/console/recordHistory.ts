import type { Hex } from "viem";
import { mined } from "../../scripts/world/mined.ts";
import { createMovableClock, openWorldEngine } from "../../scripts/world/openWorldEngine.ts";
import type { LocalWorld } from "../../scripts/world/startWorld.ts";
import { NO_HASHES } from "../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";

export type HistoryOptions = {
  minutes: number;
  // How many turns there are in ten seconds, and how many calls for each of them.
  turns: number;
  callsPerTurn: number;
};

export type History = {
  // A turn that is final, and a call that is.
  settledTurn: string;
  settledCall: string;
  sessions: { open: string; closed: string };
  // Whose charges the platform absorbed, whose row failed on chain, and the tool without its stake.
  absorbedPayer: string;
  failedPayer: string;
  unstakedTool: Hex;
};

const STEP_MS = 10_000;
const STRUCK_STEP = 6;
const CLOSE_STEP = 8;
const SESSIONS = ["research-run", "price-watch"] as const;
const OPEN = SESSIONS.slice(0, 1);
const usdc = (micro: number) => microUsdc(BigInt(Math.round(micro)));

// Some minutes of a marketplace's day, up to now: turns and calls of many payers, one who takes the allowance away just
// before a batch is mined, one who has taken it away and does not give it back, and a tool whose stake leaves. All of it goes through the
// engine and the chain, in a time of its own. What happens follows from the step, so that every run is alike.
export async function recordHistory(world: LocalWorld, ledger: string, options: HistoryOptions): Promise<History> {
  const { minutes, turns, callsPerTurn } = options;
  const clock = createMovableClock(Date.now() - minutes * 60_000);
  const policy = { firstRetryMs: STEP_MS, maxRetryMs: STEP_MS };
  const { engine, ledger: recorded, close } = await openWorldEngine(world, { ledger, clock, policy });
  const [absorbed, failing, ...payers] = world.payers;
  const [unstaked, ...tools] = world.tools;
  if (!absorbed || !failing || !unstaked) throw new RangeError("the history needs payers and tools");
  const nth = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
  const toolOf = (n: number) => nth(tools, n).toolId;
  const twoTools = (n: number): [ToolId, number][] => [
    [toolOf(n), 100_000],
    [toolOf(n + 1), 40_000 + 5_000 * (n % 9)],
  ];

  await mined(world.usdc.connect(absorbed).approve(world.router, 0n));
  await mined(world.staking.connect(unstaked.developer).requestWithdrawal(unstaked.toolId, unstaked.stake));
  const session = (id: string, n: number) =>
    engine.startSession(id, nth(payers, n).address, usdc(50_000_000), 3_600_000);
  await session("research-run", 0);
  await session("price-watch", 1);

  const record = (
    id: string,
    payer: { address: `0x${string}` },
    used: readonly [toolId: ToolId, micro: number][],
    model: number,
  ) =>
    engine.recordTurn({
      id,
      payer: payer.address,
      outcome: "delivered",
      modelCost: usdc(model),
      tools: used.map(([toolId, micro]) => ({ toolId, amount: usdc(micro), calls: 3 })),
      requestHash: NO_HASHES.request,
      responseHash: NO_HASHES.response,
    });
  const call = async (id: string, sessionId: string, n: number) => {
    await engine.hold({
      callId: id,
      sessionId,
      toolId: toolOf(n),
      method: "quote",
      amount: usdc(1_000 + 500 * (n % 4)),
    });
    await engine.capture(id, NO_HASHES);
  };

  // The time that this takes is made up for as well, so that it ends in the present.
  for (let step = 0; clock.nowMs() <= Date.now(); step++) {
    // A slow wave with some noise on it, as demand has.
    const demand = Math.round(turns * (1 + 0.4 * Math.sin(step / 7) + 0.15 * Math.sin(step * 2.3)));
    await Promise.all(
      Array.from({ length: demand }, async (_, i) => {
        const n = step * 7 + i * 3;
        await record(`turn-${step}-${i}`, nth(payers, n), twoTools(n), 8_000 + 700 * (n % 11));
        await Promise.all(
          Array.from({ length: callsPerTurn }, (_, j) =>
            call(`call-${step}-${i}-${j}`, nth(step < CLOSE_STEP ? SESSIONS : OPEN, i), n + j),
          ),
        );
      }),
    );
    if (step % 12 === 2) await record(`unpaid-${step}`, absorbed, [[toolOf(step), 60_000 + 4_000 * (step % 5)]], 9_000);
    if (step % 9 === 4) await record(`unstaked-${step}`, nth(payers, step), [[unstaked.toolId, 80_000]], 9_000);
    if (step === CLOSE_STEP) await engine.closeSession("price-watch");
    const isStruck = step === STRUCK_STEP;
    if (isStruck) await record("struck", failing, [[toolOf(0), 100_000]], 9_000);
    await world.rpc("evm_setAutomine", [false]);
    await engine.tick();
    if (isStruck) await world.usdc.connect(failing).approve(world.router, 0n, { gasPrice: 10n ** 12n });
    await world.rpc("evm_setAutomine", [true]);
    await world.rpc("anvil_mine", ["0x2"]);
    clock.advance(STEP_MS);
  }
  await engine.releaseLeases();
  const differences = await recorded.audit();
  await close();
  if (differences.length > 0) throw new Error(differences.join("\n"));
  return {
    settledTurn: "turn-0-0",
    settledCall: "call-0-1-0",
    sessions: { open: "research-run", closed: "price-watch" },
    absorbedPayer: absorbed.address.toLowerCase(),
    failedPayer: failing.address.toLowerCase(),
    unstakedTool: unstaked.toolId,
  };
}
