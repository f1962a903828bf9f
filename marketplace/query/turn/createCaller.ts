import type { Address } from "viem";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import { MAX_CALLS_PER_TURN } from "../../../settlement/domain/charges/turn.ts";
import { type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import { type ContextProviders, injectContext } from "../../execute/injectContext.ts";
import { isTheToolsDoing } from "../../execute/isTheToolsDoing.ts";
import { contentOf, judgeAnswer } from "../../execute/judgeAnswer.ts";
import type { Observer } from "../../execute/openExecute.ts";
import type { McpClient } from "../../mcp/createMcpClient.ts";
import { type CallOutcome, describeToBuyer } from "../../mcp/outcome.ts";
import type { Listing, Method } from "../../registry/listing.ts";
import type { Judge } from "../../schema/createJudge.ts";
import { canonicalJson } from "../../toolkit/answer/canonicalJson.ts";
import type { Held } from "./createMemory.ts";
import type { Trace } from "./createTrace.ts";
import { inertLine } from "./inert.ts";
import { isInfrastructure } from "./isInfrastructure.ts";

export type Arguments = Readonly<Record<string, unknown>>;

// What a tool has answered, kept whole under a name for as long as the turn lasts.
export type Output = {
  alias: string;
  listing: Listing;
  method: Method;
  args: Arguments;
  value: unknown;
  // As canonical JSON.
  text: string;
  atMs: number;
  durationMs: number;
};

// `shape`: the tool took the arguments for wrong, and others may do. `infrastructure`: it cannot be used now, and is not asked
// again in this turn. `bound`: this turn may not go on. `person`: it wants a signature or a login. `promise`: it answered
// something else than it promises.
export type FailureCause = "shape" | "infrastructure" | "bound" | "person" | "promise";
export type CallFailure = { listing: Listing; method: Method; args: Arguments; cause: FailureCause; reason: string };
export type Called = { kind: "answered"; output: Output } | { kind: "failed"; failure: CallFailure };

export type Caller = {
  call(listing: Listing, method: Method, args: Arguments): Promise<Called>;
  outputs: readonly Output[];
  failures: readonly CallFailure[];
  // How often tools were called, answered or not.
  attempts(): number;
  // The listings that have answered: what each costs, and how often it was called.
  used(): readonly { listing: Listing; price: MicroUsdc; calls: number }[];
};

export type CallerOptions = {
  account: Address;
  attemptId: string;
  // The most that the listings of this turn may cost together.
  bound: MicroUsdc;
  // Whose room the outputs are in.
  held: Held;
  mcp: McpClient;
  judge: Judge;
  sign: (request: { endpoint: string; toolId: string; payer: string }) => Promise<string>;
  linkedWallets: (account: Address) => Promise<readonly Address[]>;
  providers: ContextProviders;
  observer: Pick<Observer, "called">;
  // An answer that is something else than promised, for whoever judges it.
  keepBroken: (broken: {
    callId: string;
    listing: Listing;
    method: Method;
    args: Arguments;
    text: string;
    problem: string;
  }) => Promise<void>;
  nowMs: () => number;
  signal: AbortSignal;
  trace: Trace;
  // A tool is about to be called, or has answered.
  say: (status: "executing" | "tool-complete", tool: { id: string; name: string }) => void;
};

const MAX_REASON_LENGTH = 500;

// Calls tools for one turn, within its bounds: how many calls, how much money, how much memory. A tool that failed for reasons
// of its own is left alone, and the same call is never made twice, so that nothing a tool answers can make a turn go round in
// circles.
export function createCaller(options: CallerOptions): Caller {
  const { account, attemptId, bound, held, mcp, judge, sign, signal, trace, say, observer, nowMs } = options;
  const outputs: Output[] = [];
  const failures: CallFailure[] = [];
  const made = new Map<string, Promise<Called>>();
  const broken = new Set<string>();
  const used = new Map<string, { listing: Listing; price: MicroUsdc; calls: number }>();
  // Counted before a call begins, so that calls at the same time cannot go beyond the bound together.
  const committed = new Map<string, MicroUsdc>();
  const running = new Map<string, number>();
  const aliases = new Map<string, number>();
  let attempts = 0;

  function refusal(listing: Listing, method: Method): string | null {
    if (signal.aborted) return "the turn has ended";
    if (attempts >= MAX_CALLS_PER_TURN) return `a turn makes at most ${MAX_CALLS_PER_TURN} calls`;
    if (broken.has(keyOf(listing, method))) return "it failed before in this turn, for reasons that do not go away";
    if (committed.has(listing.toolId)) return null;
    const total = [...committed.values()].reduce((sum, price) => sum + price, 0n) + listing.price;
    return total > bound ? "its price is above what this turn may cost" : null;
  }

  async function make(listing: Listing, method: Method, args: Arguments): Promise<Called> {
    const refused = refusal(listing, method);
    if (refused !== null) return failed("bound", refused);
    committed.set(listing.toolId, listing.price);
    running.set(listing.toolId, (running.get(listing.toolId) ?? 0) + 1);
    attempts += 1;
    const callId = `${attemptId}:${attempts}`;
    const tool = { id: listing.toolId, name: listing.name };
    say("executing", tool);
    const startMs = performance.now();
    const outcome = await ask(callId).finally(() =>
      running.set(listing.toolId, (running.get(listing.toolId) ?? 1) - 1),
    );
    const durationMs = Math.round(performance.now() - startMs);
    say("tool-complete", { id: listing.toolId, name: method.name });
    if ("cause" in outcome) return end(outcome.cause, outcome.reason, durationMs);
    if (outcome.kind !== "answered") {
      const cause = causeOf(outcome);
      count(outcome.kind, isTheToolsDoing(outcome, judge, method, args) ? false : null);
      return end(cause, describeToBuyer(outcome), durationMs);
    }
    const value = contentOf(outcome);
    const text = canonicalJson(value ?? null);
    const judged = judgeAnswer(judge, listing, method, outcome);
    count(judged.kind, judged.kind === "delivered");
    if (judged.kind !== "delivered") {
      await options.keepBroken({ callId, listing, method, args, text, problem: judged.problem });
      return end("promise", `it answered something else than it promises: ${judged.problem}`, durationMs);
    }
    const full = held.hold(text, value);
    if (full !== null) return end("bound", full, durationMs);
    const output: Output = { alias: aliasOf(method), listing, method, args, value, text, atMs: nowMs(), durationMs };
    outputs.push(output);
    const known = used.get(listing.toolId);
    used.set(listing.toolId, { listing, price: known?.price ?? listing.price, calls: (known?.calls ?? 0) + 1 });
    trace.called({ listing, method, args, output, durationMs });
    return { kind: "answered", output };

    function count(outcome: string, succeeded: boolean | null): void {
      observer.called({ listing, account, outcome, succeeded, isPriced: listing.price > 0n, durationMs });
    }

    function end(cause: FailureCause, reason: string, durationMs: number): Called {
      // A listing that has answered nothing yet costs nothing, and leaves room for another.
      if (!used.has(listing.toolId) && running.get(listing.toolId) === 0) committed.delete(listing.toolId);
      if (cause !== "shape") broken.add(keyOf(listing, method));
      return failed(cause, reason, durationMs);
    }

    function failed(cause: FailureCause, reason: string, durationMs = 0): Called {
      const failure = { listing, method, args, cause, reason: inertLine(reason.slice(0, MAX_REASON_LENGTH)) };
      failures.push(failure);
      trace.failed({ ...failure, durationMs });
      return { kind: "failed", failure };
    }

    async function ask(requestId: string): Promise<CallOutcome | { cause: FailureCause; reason: string }> {
      const { endpoint, toolId } = listing;
      let injected: Arguments;
      try {
        injected = await injectContext(method, args, () => options.linkedWallets(account), options.providers);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { cause: error.code === "wallet_link_required" ? "person" : "infrastructure", reason: error.message };
      }
      return mcp.connect(endpoint).callTool(method.name, injected, {
        token: () => sign({ endpoint, toolId, payer: account }),
        account,
        requestId,
        signal,
        ...(method._meta.rateLimit && { rateLimit: method._meta.rateLimit }),
      });
    }
  }

  // Numbered by what is left of a name, in the spelling that Python reads it in: no tool's output stands where another's is looked for.
  function aliasOf(method: Method): string {
    const name = method.name.normalize("NFKC").replace(/[^\p{L}\p{N}_]+/gu, "_");
    const number = (aliases.get(name) ?? 0) + 1;
    aliases.set(name, number);
    return `${name}_${number}`;
  }

  return {
    call(listing, method, args) {
      const key = `${keyOf(listing, method)} ${canonicalJson(args)}`;
      const first = made.get(key);
      if (first !== undefined) return first;
      const called = make(listing, method, args);
      made.set(key, called);
      return called;
    },
    outputs,
    failures,
    attempts: () => attempts,
    used: () => [...used.values()].map((one) => ({ ...one, price: microUsdc(one.price) })),
  };
}

const keyOf = ({ toolId }: Listing, { name }: Method) => JSON.stringify([toolId, name]);

function causeOf(outcome: Exclude<CallOutcome, { kind: "answered" }>): FailureCause {
  switch (outcome.kind) {
    case "handshakeRequired":
      return "person";
    case "toolFailed":
      return isInfrastructure(outcome.message) ? "infrastructure" : "shape";
    case "cancelled":
      return "bound";
    default:
      return "infrastructure";
  }
}
