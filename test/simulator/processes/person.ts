import type { Address } from "viem";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import type { EngineContext } from "../../../settlement/engine/context.ts";
import { createEngine } from "../../../settlement/engine/createEngine.ts";
import type { Ledger } from "../../../settlement/ledger/ledger.ts";
import type { Invariants } from "../checks/invariants.ts";
import type { Rng } from "../rng.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

const BATCHES = 1_000;

export type Person = ReturnType<typeof createPerson>;

// Somebody who looks when all is halted, and now and then when it is not: with the commands that there are, one at a time, each
// of which takes as long as it takes and may be interrupted like everything else.
export function createPerson(options: {
  contextOf: (actor: Actor) => EngineContext;
  scheduler: Scheduler;
  // The ledger without faults.
  truth: Ledger;
  invariants: () => Invariants;
  rng: Rng;
  trace: (line: string) => void;
  // Decides when all keys are fenced off though nothing shows that the ledger was taken back; null where nobody does that.
  cautious: Rng | null;
  // A key that is lost and still has something that others wait for.
  toRetire: () => Promise<Address | null>;
}) {
  const { contextOf, scheduler, truth, invariants, rng, trace, toRetire } = options;
  const cautious = options.cautious?.happens(0.15) ? options.cautious : null;
  let actor: Actor | null = null;

  async function run(script: (engine: ReturnType<typeof createEngine>) => Promise<void>): Promise<void> {
    const own: Actor = { name: "person", alive: true, spared: false, frozenUntilMs: 0 };
    actor = own;
    try {
      await script(createEngine(contextOf(own), () => Promise.reject(new RangeError("a person asks for nobody"))));
    } catch (error) {
      if (own.alive && !(error instanceof SettlementError && error.retryable)) throw error;
      trace(`the person's command ended with ${error}`);
    } finally {
      if (actor === own) actor = null;
    }
  }

  const begin = (script: Parameters<typeof run>[0]) => {
    run(script).catch((error) => invariants().violations.push(`a person's command ended with ${error}`));
  };

  const isBusy = () => actor?.alive === true;

  const reconcile = (flags: { adopt: boolean; reopen: boolean; resume: boolean }, retire: Address | null) =>
    begin(async (engine) => {
      trace(`a person reconciles: ${JSON.stringify({ ...flags, retire })}`);
      const named = retire === null ? {} : { retire };
      await engine.reconcile({ batches: BATCHES, ...flags, ...named, say: (line) => trace(`reconcile: ${line}`) });
    });

  const fenceOff = () =>
    begin(async (engine) => {
      trace("a person fences off all keys");
      invariants().fenced();
      await engine.reconcile({ batches: BATCHES, fence: true, say: (line) => trace(`reconcile: ${line}`) });
    });

  // What the audit finds must be so: before it began or when it ended.
  const audit = () =>
    begin(async (engine) => {
      const before = await invariants().isEqual();
      const moment = invariants().moment();
      const found = await engine.audit();
      trace(`a person audits: ${JSON.stringify(found)}`);
      if (found.kind === "different" && before && moment === invariants().moment() && (await invariants().isEqual())) {
        invariants().violations.push(`the audit finds what is not so: ${found.differences.join("; ")}`);
      }
    });

  return {
    // What was asked and not answered is answered with an error.
    cut(error: Error): void {
      if (actor !== null) scheduler.cut(actor, error);
    },
    // While things go wrong.
    async look(impatient: boolean): Promise<void> {
      if (isBusy()) return;
      const halted = (await truth.readHalt()) !== null;
      const lost = await toRetire();
      if (cautious?.happens(0.03)) return fenceOff();
      if (lost !== null && rng.happens(0.15)) return reconcile({ adopt: true, reopen: true, resume: true }, lost);
      if (rng.happens(halted ? 0.02 : 0.04)) return audit();
      if (!rng.happens(halted ? 0.3 : impatient ? 0.05 : 0)) return;
      reconcile({ adopt: rng.happens(0.7), reopen: rng.happens(0.7), resume: rng.happens(0.8) }, null);
    },
    // When all faults have stopped.
    async finish(): Promise<void> {
      if (isBusy()) return;
      const lost = await toRetire();
      if (lost === null && (await truth.readHalt()) === null) return;
      reconcile({ adopt: true, reopen: true, resume: true }, lost);
    },
  };
}
