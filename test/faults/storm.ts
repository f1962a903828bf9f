import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Failpoint } from "../../settlement/engine/context.ts";
import { createRng, type Rng } from "../simulator/rng.ts";
import type { Action } from "./proxies/rpcProxy.ts";
import type { Balances } from "./stage/balances.ts";
import type { Ground, Stage } from "./stage/stage.ts";
import { PAYERS } from "./stage/stage.ts";

export type Storm = { balances: Balances; kills: number; faults: number };

const LIVES = 6;
// So many that no payer runs out of money.
const TURNS = 20 * PAYERS;
const LIFE_MS = 3_000;
const MAX_GAP_MS = 75;
const HIGH_BASE_FEE = 1_500_000_000n;
const NORMAL_BASE_FEE = 10_000_000n;

const ENDS = ["kill", "kill", "failpoint", "stop", "freeze"] as const;
const FAILPOINTS: readonly Failpoint[] = ["after_plan", "after_sign", "after_save", "after_send", "after_inclusion"];
const ACTIONS: readonly Action[] = [
  { kind: "drop" },
  { kind: "truncate" },
  { kind: "garble" },
  { kind: "duplicate" },
  { kind: "status", status: 503 },
  { kind: "status", status: 429 },
  { kind: "lose answer" },
];

// Random traffic through several lives of a daemon, each of which ends badly, under random faults of nodes and chain. Then
// the weather clears, and everything that was acknowledged must be settled. The seed decides what is done to the daemon;
// when exactly is the machine's affair, so a seed that fails need not fail again.
export async function runStorm(ground: Ground, seed: number): Promise<Storm> {
  const rng = createRng(seed);
  const stage = await ground.open();
  const weather = startWeather(stage, createRng(seed + 1));
  let kills = 0;
  try {
    await stage.start();
    const traffic = sendTraffic(stage, createRng(seed + 2));
    // If something else fails first, that is what is reported.
    traffic.catch(() => undefined);
    let doomed = false;
    for (let life = 0; life < LIVES; life++) {
      const end = rng.pick(ENDS);
      await pause(rng.between(200, LIFE_MS));
      if (end === "freeze") {
        stage.daemon.freeze();
        await pause(rng.between(100, 1_000));
        stage.daemon.wake();
      }
      const { code } = end === "stop" ? await stage.daemon.stop() : await stage.daemon.kill();
      if (end === "stop" && !doomed) assert.equal(code, 0, "it drains");
      if (code === null) kills += 1;
      doomed = end === "failpoint";
      const killAt = rng.pick(FAILPOINTS);
      // It may be dead again before it listens.
      const daemon = await stage.spawn(doomed ? { plan: { killAt } } : {});
      await daemon.listening().catch(() => undefined);
    }
    const faults = await weather.clear();
    await stage.daemon.kill();
    await stage.start();
    await traffic;
    await stage.settled();
    const balances = await stage.balances();
    assert.equal(balances.attempts, 0, "no fault of the network uses up a payer's attempt");
    return { balances, kills, faults };
  } catch (error) {
    throw new Error(`storm ${seed}: ${error instanceof Error ? error.message : error}\n${stage.lastWords()}`, {
      cause: error,
    });
  } finally {
    await weather.clear();
    await stage.close();
  }
}

async function sendTraffic(stage: Stage, rng: Rng): Promise<void> {
  const deliveries: Promise<void>[] = [];
  for (let i = 0; i < TURNS; i++) {
    deliveries.push(stage.platform.deliver(stage.turnOf(i % PAYERS)));
    await pause(rng.between(0, MAX_GAP_MS));
  }
  await Promise.all(deliveries);
}

// One fault after the other, each for a while.
function startWeather(stage: Stage, rng: Rng): { clear(): Promise<number> } {
  let clear = false;
  let faults = 0;
  const ended = (async () => {
    while (!clear) {
      await pause(rng.between(20, 300));
      faults += 1;
      const lasts = () => pause(rng.between(20, 400));
      switch (rng.pick(["rpc", "rpc", "sends", "sends", "stall", "fees", "reorg"] as const)) {
        case "rpc":
        case "sends": {
          const method = rng.happens(0.5) ? "eth_sendRawTransaction" : null;
          const lift = stage.endpoint.rule({ method, times: rng.between(1, 6), action: rng.pick(ACTIONS) });
          await lasts();
          lift();
          break;
        }
        case "stall":
          await stage.sequencer.stall();
          await lasts();
          stage.sequencer.resume();
          break;
        case "fees":
          await stage.sequencer.setBaseFee(HIGH_BASE_FEE);
          await lasts();
          await stage.sequencer.setBaseFee(NORMAL_BASE_FEE);
          break;
        case "reorg":
          await stage.sequencer.reorg(1);
      }
    }
  })();
  return {
    async clear() {
      clear = true;
      await ended;
      return faults;
    },
  };
}
