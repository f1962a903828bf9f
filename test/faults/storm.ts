import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Milestone } from "../../settlement/engine/context.ts";
import { type Chance, createChance } from "../simulator/chance.ts";
import type { Books } from "./books.ts";
import type { Action } from "./rpcProxy.ts";
import type { Ground, World } from "./world.ts";
import { PAYERS } from "./world.ts";

export type Storm = { books: Books; kills: number; faults: number };

const LIVES = 6;
// So many that no payer runs out of money.
const TURNS = 20 * PAYERS;
const LIFE_MS = 3_000;
const MAX_GAP_MS = 75;
const HIGH_BASE_FEE = 1_500_000_000n;
const NORMAL_BASE_FEE = 10_000_000n;

const ENDS = ["kill", "kill", "milestone", "stop", "freeze"] as const;
const MILESTONES: readonly Milestone[] = ["after_plan", "after_sign", "after_save", "after_send", "after_inclusion"];
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
// the weather clears, and everything that was acknowledged has to be settled. The seed decides what is done to the daemon;
// when exactly is the machine's affair, so a seed that fails need not fail again.
export async function runStorm(ground: Ground, seed: number): Promise<Storm> {
  const chance = createChance(seed);
  const world = await ground.open();
  const weather = startWeather(world, createChance(seed + 1));
  let kills = 0;
  try {
    await world.start();
    const traffic = sendTraffic(world, createChance(seed + 2));
    // If something else fails first, that is what is reported.
    traffic.catch(() => undefined);
    let doomed = false;
    for (let life = 0; life < LIVES; life++) {
      const end = chance.pick(ENDS);
      await pause(chance.between(200, LIFE_MS));
      if (end === "freeze") {
        world.daemon.freeze();
        await pause(chance.between(100, 1_000));
        world.daemon.wake();
      }
      const { code } = end === "stop" ? await world.daemon.stop() : await world.daemon.kill();
      if (end === "stop" && !doomed) assert.equal(code, 0, "it drains");
      if (code === null) kills += 1;
      doomed = end === "milestone";
      const killAt = chance.pick(MILESTONES);
      // It may be dead again before it listens.
      const daemon = await world.spawn(doomed ? { plan: { killAt } } : {});
      await daemon.listening().catch(() => undefined);
    }
    const faults = await weather.clear();
    await world.daemon.kill();
    await world.start();
    await traffic;
    await world.settled();
    const books = await world.books();
    assert.equal(books.attempts, 0, "no fault of the network uses up a payer's attempt");
    return { books, kills, faults };
  } catch (error) {
    throw new Error(`storm ${seed}: ${error instanceof Error ? error.message : error}\n${world.lastWords()}`, {
      cause: error,
    });
  } finally {
    await weather.clear();
    await world.close();
  }
}

async function sendTraffic(world: World, chance: Chance): Promise<void> {
  const deliveries: Promise<void>[] = [];
  for (let i = 0; i < TURNS; i++) {
    deliveries.push(world.client.deliver(world.turnOf(i % PAYERS)));
    await pause(chance.between(0, MAX_GAP_MS));
  }
  await Promise.all(deliveries);
}

// One fault after the other, each for a while.
function startWeather(world: World, chance: Chance): { clear(): Promise<number> } {
  let clear = false;
  let faults = 0;
  const ended = (async () => {
    while (!clear) {
      await pause(chance.between(20, 300));
      faults += 1;
      const lasts = () => pause(chance.between(20, 400));
      switch (chance.pick(["rpc", "rpc", "sends", "sends", "stall", "fees", "reorg"] as const)) {
        case "rpc":
        case "sends": {
          const method = chance.happens(0.5) ? "eth_sendRawTransaction" : null;
          const lift = world.endpoint.rule({ method, times: chance.between(1, 6), action: chance.pick(ACTIONS) });
          await lasts();
          lift();
          break;
        }
        case "stall":
          await world.sequencer.stall();
          await lasts();
          world.sequencer.resume();
          break;
        case "fees":
          await world.sequencer.setBaseFee(HIGH_BASE_FEE);
          await lasts();
          await world.sequencer.setBaseFee(NORMAL_BASE_FEE);
          break;
        case "reorg":
          await world.sequencer.reorg(1);
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
