import { randomUUID } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { createScheduler } from "../jobs/createScheduler.ts";
import type { Output } from "../turn/createCaller.ts";
import { type Computed, prepareCall, type Rejected, readAnswer, rejected } from "./call.ts";
import type { Backend } from "./launch.ts";
import {
  type EndStage,
  openSandbox,
  SANDBOX_LIMITS,
  type Sandbox,
  SandboxEnded,
  type SandboxLimits,
} from "./openSandbox.ts";

// Python for one turn. There is no process until the first call, and none after `dispose`.
export type Interpreter = {
  run(args: unknown, outputs: readonly Output[]): Promise<Computed | Rejected>;
  dispose(): Promise<void>;
};

export type Interpreters = {
  // For somebody, who shares the places with everybody else.
  open(signal: AbortSignal, owner: string): Interpreter;
};

export type InterpretersOptions = {
  backend: Backend;
  log: Pick<FastifyBaseLogger, "info" | "warn">;
  limits?: Partial<SandboxLimits & { callMs: number; waitMs: number }>;
};

const CALL_MS = 60_000;
// Each takes up to a gigabyte. Who comes later waits.
const MAX_AT_ONCE = 4;
// A turn keeps its place for minutes, so that nobody has them all.
const MAX_PER_OWNER = 2;
// A turn whose code ends its sandbox every time gets no more of them.
const MAX_SANDBOXES = 3;
// A turn that waits for longer goes on without, while whoever asked is still there.
const WAIT_MS = 20_000;
const PROBE = "[python-sandbox-latency-probe]";

export function createInterpreters({ backend, log, limits = {} }: InterpretersOptions): Interpreters {
  const { callMs = CALL_MS, waitMs = WAIT_MS, ...sandboxLimits } = { ...SANDBOX_LIMITS, ...limits };
  const places = createScheduler(MAX_AT_ONCE, MAX_PER_OWNER);

  // Resolves to what gives the place back, once there is one. Whoever has ended or gone on meanwhile takes none.
  function placeFor(owner: string, ending: AbortSignal): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    let isWaiting = true;
    const leave = (why: SandboxEnded) => {
      isWaiting = false;
      reject(why);
    };
    const over = () => leave(new SandboxEnded("closed", "the turn is over"));
    const late = setTimeout(() => leave(new SandboxEnded("busy", BUSY)), waitMs).unref();
    if (ending.aborted) over();
    ending.addEventListener("abort", over);
    places.add(owner, async () => {
      if (!isWaiting) return;
      const { promise: given, resolve: give } = Promise.withResolvers<void>();
      resolve(give);
      await given;
    });
    return promise.finally(() => {
      clearTimeout(late);
      ending.removeEventListener("abort", over);
    });
  }

  return {
    open(signal, owner) {
      let sandbox: Sandbox | undefined;
      let id = "";
      let leave: (() => void) | undefined;
      let opened = 0;
      let busy: SandboxEnded | undefined;
      let last: Promise<unknown> = Promise.resolve();
      // Over when the turn is, or when whoever asked has gone.
      const over = new AbortController();
      const ending = AbortSignal.any([signal, over.signal]);

      const probe = (event: string, fields: Record<string, string | number>) => {
        const text = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
        log.info(
          { event, sandboxId: id, ...fields },
          [`${PROBE} event=${event}`, `sandboxId=${id}`, ...text].join(" "),
        );
      };

      async function current(): Promise<Sandbox> {
        if (sandbox !== undefined) return sandbox;
        // Who has waited in vain does not wait again.
        if (busy !== undefined) throw busy;
        if (opened >= MAX_SANDBOXES) throw new SandboxEnded("start", "it ended too often in this turn");
        opened += 1;
        leave ??= await placeFor(owner, ending);
        id = randomUUID();
        if (ending.aborted) throw new SandboxEnded("closed", "the turn is over");
        sandbox = await openSandbox(backend, sandboxLimits, ending);
        if (!sandbox.isOffline) log.warn({ event: "interpreter_has_a_network", sandboxId: id }, NETWORK);
        return sandbox;
      }

      async function run(args: unknown, outputs: readonly Output[]): Promise<Computed | Rejected> {
        const prepared = prepareCall(args, outputs);
        if ("kind" in prepared) {
          probe("python_call_failure", { stage: prepared.stage, message: oneLine(prepared.message) });
          return prepared;
        }
        const { call, line, inputsBytes, inputAliasCount } = prepared;
        let outcome: Computed | Rejected;
        try {
          const own = await current();
          probe("python_call_start", { inputsBytes, codeBytes: Buffer.byteLength(call.code), inputAliasCount });
          outcome = readAnswer(await own.ask(line, callMs), call);
        } catch (error) {
          if (!(error instanceof SandboxEnded)) throw error;
          await sandbox?.close();
          sandbox = undefined;
          if (error.stage === "busy") busy = error;
          const mayRepair = !HOPELESS.has(error.stage) && opened < MAX_SANDBOXES;
          outcome = rejected(error.stage, error.message, mayRepair);
        }
        if (outcome.kind === "rejected") {
          probe("python_call_failure", { stage: outcome.stage, message: oneLine(outcome.message) });
        } else {
          const { stdout, charts, images } = outcome;
          probe("python_call_success", {
            stdoutChars: stdout.length,
            artifactCount: charts.length + images.length,
            chartCount: charts.length,
            imageCount: images.length,
          });
        }
        return outcome;
      }

      return {
        run(args, outputs) {
          // One after the other: a sandbox does one thing at a time.
          const mine = last.then(() => run(args, outputs));
          last = mine.catch(() => undefined);
          return mine;
        },
        async dispose() {
          over.abort();
          await last;
          await sandbox?.close();
          leave?.();
          leave = undefined;
        },
      };
    },
  };
}

const BUSY = "all places for Python are taken by other questions";
const HOPELESS: ReadonlySet<EndStage> = new Set(["start", "refused", "busy"]);

const NETWORK =
  "the interpreter's process has a network, because the system lets it have no other; Python in it has none. Install unshare, or " +
  "allow user namespaces";

const oneLine = (text: string) => JSON.stringify(text.slice(0, 300));
