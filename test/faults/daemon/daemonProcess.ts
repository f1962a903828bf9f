// The daemon in a process of its own, as the daemon command runs it. What only a test needs is exchanged here and nowhere
// in the service: shorter waits, a clock that jumps, a signer that hangs, and points at which the process kills or
// freezes itself.

import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { serve } from "../../../settlement/cli/commands/daemon.ts";
import { systemClock } from "../../../settlement/clock.ts";
import { type KeyConfig, readConfig } from "../../../settlement/config.ts";
import { sentenceOf } from "../../../settlement/domain/text/sentence.ts";
import type { Failpoint, Policy } from "../../../settlement/engine/context.ts";
import { openSigner } from "../../../settlement/openEngine.ts";

export type Plan = {
  policy?: Partial<Omit<Policy, "maxFeePerGasCeiling" | "stuckBlocks">>;
  stuckBlocks?: number;
  killAt?: Failpoint;
  freezeAt?: Failpoint;
  // How many of the first signatures never come.
  signaturesThatHang?: number;
};

// What the test says to the running process, and hears from it.
export type Command = { clockOffsetMs: number } | { ask: "synchronous" };
export type Told = { frozen: true } | { synchronous: number[] };

const STDOUT = 1;

const { policy, stuckBlocks, killAt, freezeAt, signaturesThatHang = 0 } = JSON.parse(process.argv[2] ?? "{}") as Plan;
let clockOffsetMs = 0;
let frozen = false;
let hanging = signaturesThatHang;

// SQLite's connections, to ask them how they write.
const connections = new Set<DatabaseSync>();
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function remembered(this: DatabaseSync, sql: string) {
  connections.add(this);
  exec.call(this, sql);
};

process.on("message", (command: Command) => {
  if ("clockOffsetMs" in command) {
    clockOffsetMs = command.clockOffsetMs;
    return;
  }
  const levels = [...connections].map((connection) =>
    Number(connection.prepare("PRAGMA synchronous").get()?.synchronous),
  );
  process.send?.({ synchronous: levels } satisfies Told);
});
process.channel?.unref();

function reached(failpoint: Failpoint): void {
  if (failpoint === killAt) process.kill(process.pid, "SIGKILL");
  if (failpoint === freezeAt && !frozen) {
    frozen = true;
    process.send?.({ frozen: true } satisfies Told);
    process.kill(process.pid, "SIGSTOP");
  }
}

async function openUnreliableSigner(key: KeyConfig) {
  const signer = await openSigner(key);
  return {
    address: signer.address,
    sign: (transaction: Parameters<typeof signer.sign>[0]) => {
      hanging -= 1;
      return hanging >= 0 ? new Promise<never>(() => {}) : signer.sign(transaction);
    },
  };
}

// Node keeps what it has compiled when a process ends, and this one is killed as a rule.
flushCompileCache();

try {
  await serve(readConfig(process.env), {
    policy: { ...policy, ...(stuckBlocks !== undefined && { stuckBlocks: BigInt(stuckBlocks) }) },
    clock: { ...systemClock, nowMs: () => systemClock.nowMs() + clockOffsetMs },
    reached,
    openSigner: openUnreliableSigner,
    // Written at once: a process that is killed has said everything by then.
    out: { write: (line) => void writeSync(STDOUT, line) },
  });
} catch (error) {
  console.error(error instanceof Error ? sentenceOf(error.message) : error);
  process.exitCode = 1;
}
process.disconnect?.();
