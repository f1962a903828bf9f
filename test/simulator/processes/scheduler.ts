import type { Faults } from "../faults/faults.ts";
import type { Rng } from "../rng.ts";

// A process, as far as the simulator sees it: it asks for things, and unless it is spared it can be frozen or killed.
export type Actor = { name: string; alive: boolean; spared: boolean; frozenUntilMs: number };

type Call = {
  actor: Actor;
  name: string;
  run: () => Promise<unknown>;
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
};

export type Scheduler = ReturnType<typeof createScheduler>;

// Every call of an engine to its ledger, chain or signer waits here until the scheduler lets it run: one at a time, in an
// order that the seed decides. So all interleavings of several processes are possible, and each can be had again. A dead
// process is one whose calls are never answered.
export function createScheduler(rng: Rng, faults: Faults, nowMs: () => number) {
  let calls: Call[] = [];
  let crashes = 0;

  function call<T>(actor: Actor, name: string, run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (actor.alive) calls.push({ actor, name, run, resolve: resolve as (answer: unknown) => void, reject });
    });
  }

  function kill(actor: Actor, where: string): void {
    actor.alive = false;
    crashes += 1;
    calls = calls.filter((waiting) => waiting.actor !== actor);
    faults.trace(`${actor.name} is killed ${where}`);
  }

  // What was asked and not answered yet is answered with an error; the process lives.
  function cut(actor: Actor, error: Error): void {
    const [own, others] = [calls.filter((call) => call.actor === actor), calls.filter((call) => call.actor !== actor)];
    calls = others;
    for (const { reject } of own) reject(error);
  }

  async function perform({ actor, name, run, resolve, reject }: Call): Promise<void> {
    if (!actor.spared && faults.strike("crash before a call", 0.004)) return kill(actor, `before ${name}`);
    try {
      const answer = await run();
      if (!actor.spared && faults.strike("crash after a call", 0.004)) return kill(actor, `after ${name}`);
      faults.trace(`${actor.name} ${name}`);
      resolve(answer);
    } catch (error) {
      faults.trace(`${actor.name} ${name}: ${error}`);
      reject(error);
    }
  }

  // Runs one call, or those of one process that asked at the same time together. False if nobody asks for anything.
  async function step(): Promise<boolean> {
    const ready = calls.filter(({ actor }) => actor.frozenUntilMs <= nowMs());
    if (ready.length === 0) return false;
    const first = rng.pick(ready);
    const together = rng.happens(0.5) ? ready.filter(({ actor }) => actor === first.actor) : [first];
    calls = calls.filter((waiting) => !together.includes(waiting));
    if (!first.actor.spared && faults.strike("frozen", 0.005))
      first.actor.frozenUntilMs = nowMs() + rng.between(2, 60) * 1000;
    await Promise.all(together.map(perform));
    await settled();
    return true;
  }

  return {
    call,
    kill,
    cut,
    step,
    crashes: () => crashes,
    waiting: () => calls.length,
  };
}

// Lets everything run that can run without another call.
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
