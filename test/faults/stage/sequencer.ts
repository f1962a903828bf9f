import { setTimeout as pause } from "node:timers/promises";
import type { LocalWorld } from "../../../scripts/world/startWorld.ts";

export type Sequencer = {
  // No more blocks until `resume`; those that are asked for by hand excepted.
  stall(): Promise<void>;
  resume(): void;
  mine(blocks?: number): Promise<void>;
  // From now on every block has this base fee.
  setBaseFee(wei: bigint): Promise<void>;
  // Takes the newest blocks out of the chain; what was in them is gone from the mempool as well.
  reorg(depth: number): Promise<void>;
  stop(): Promise<void>;
};

const BLOCK_EVERY_MS = 50;
// Base's is of this order most of the time.
const BASE_FEE = 10_000_000n;

// Makes a block every now and then, until it is told otherwise.
export function startSequencer(world: LocalWorld): Sequencer {
  let running = true;
  let stopped = false;
  let baseFee = BASE_FEE;
  // One thing at a time, so that nothing is mined after `stall` has returned.
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  async function mineOne(): Promise<void> {
    await world.rpc("anvil_setNextBlockBaseFeePerGas", [hexOf(baseFee)]);
    await world.rpc("anvil_mine", ["0x1"]);
  }

  const ended = (async () => {
    while (!stopped) {
      await inTurn(async () => {
        if (running) await mineOne();
      }).catch(() => undefined);
      await pause(BLOCK_EVERY_MS);
    }
  })();

  return {
    async stall() {
      running = false;
      await last;
    },
    resume() {
      running = true;
    },
    mine: (blocks = 1) =>
      inTurn(async () => {
        for (let i = 0; i < blocks; i++) await mineOne();
      }),
    setBaseFee: (wei) =>
      inTurn(async () => {
        baseFee = wei;
      }),
    reorg: (depth) => inTurn(async () => void (await world.rpc("anvil_reorg", [depth, []]))),
    async stop() {
      stopped = true;
      await ended;
    },
  };
}

export const hexOf = (value: bigint | number) => `0x${value.toString(16)}`;
