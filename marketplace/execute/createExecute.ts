import { randomUUID } from "node:crypto";
import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { chargeIdOfCall, NO_HASH } from "../../settlement/domain/charges/charge.ts";
import { formatUsd, type MicroUsdc, microUsdc, parseUsd } from "../../settlement/domain/money.ts";
import { suggestionOf } from "../../settlement/domain/text/nearest.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import type { Sql } from "../../settlement/ledger/database/sql.ts";
import type { SessionView } from "../../settlement/views/session.ts";
import type { Store } from "../database/openStore.ts";
import { unread } from "../delivery/createDeliveries.ts";
import type { Catalogue } from "../discovery/createCatalogue.ts";
import type { McpClient } from "../mcp/createMcpClient.ts";
import { type Answered, type CallOutcome, describeToBuyer } from "../mcp/outcome.ts";
import { isOffered, isStaked, type Listing, type Method } from "../registry/listing.ts";
import type { Judge } from "../schema/createJudge.ts";
import { hashText } from "../schema/hashJson.ts";
import type { Hashes, SettlementClient } from "../settlement/createSettlementClient.ts";
import type { SignedBudget } from "../settlement/signedBudget.ts";
import { ANSWER_META, CHARGE_META } from "../toolkit/answer/answer.ts";
import { canonicalJson } from "../toolkit/answer/canonicalJson.ts";
import { type ExecuteAnswer, type ExecuteSession, ExecutionFailed, successText } from "./answer.ts";
import type { Reporter } from "./createReporter.ts";
import type { Sessions } from "./createSessions.ts";
import { keepEvidence } from "./evidence.ts";
import { sizeOf } from "./executions.ts";
import { type ContextProviders, prepareContext } from "./injectContext.ts";
import { isTheToolsDoing } from "./isTheToolsDoing.ts";
import { contentOf, type Judged, judgeAnswer, schemaHashOf } from "./judgeAnswer.ts";
import type { Observer } from "./openExecute.ts";
import type { Report } from "./unreported.ts";

export type ExecuteRequest = {
  toolId: string;
  method: string;
  args: Readonly<Record<string, unknown>>;
  sessionId: string | null;
  maxSpendUsd: string | null;
  closeSession: boolean;
  // What the buyer has signed for it, if anything.
  signed: SignedBudget | null;
};

export type ExecuteOptions = {
  store: Store;
  clock: Clock;
  catalogue: Catalogue;
  settlement: SettlementClient;
  sessions: Sessions;
  reporter: Reporter;
  mcp: McpClient;
  judge: Judge;
  sign: (request: { endpoint: string; toolId: string; payer: string }) => Promise<string>;
  linkedWallets: (account: Address) => Promise<readonly Address[]>;
  providers: ContextProviders;
  publicUrl: string;
  observer: Observer;
};

// How one attempt is made.
export type Attempt = {
  account: Address;
  callId: string;
  // The id of the session that the request opens, if it comes with a budget: the same whenever it is made again.
  opens?: string;
  signal?: AbortSignal;
  // Whether the answer can be sent. Without it the answer is kept, and can be had later.
  hasRoom?: (bytes: number) => boolean;
  // The tool is about to be called. From here on only an outcome of the call says whether it was.
  calling?: () => void;
  // Puts the answer on disk together with what the daemon is to be told, before it is told: a crash in between then neither
  // loses an answer that is charged nor a charge that is owed. Throws if somebody else has answered meanwhile, and then
  // nothing may be charged.
  keep?: (answer: ExecuteAnswer, report: Report | null, isCharged: boolean) => Promise<void>;
  // Puts the same answer in the place of the one that was kept, with what the daemon has said of the session.
  amend?: (sql: Sql, answer: ExecuteAnswer, isCharged: boolean) => Promise<void>;
};

// The lifecycle of an Execute call: tool and method, eligible and staked, session, hold, `tools/call` with a token, the answer
// against its promise, capture or void.
export type Execute = (request: ExecuteRequest, attempt: Attempt) => Promise<ExecuteAnswer>;

// In characters.
const MAX_AMENDED = 65_536;

// An implicit session lives as long as its one call.
const IMPLICIT_SESSION_MS = 5 * 60 * 1_000;

export function createExecute(options: ExecuteOptions): Execute {
  const { store, clock, catalogue, settlement, sessions, reporter, mcp, judge, sign, providers, observer } = options;

  return async (request, { account, callId, opens, signal, hasRoom, calling, keep, amend }) => {
    const startMs = performance.now();
    const durationMs = () => Math.round(performance.now() - startMs);
    const { listing, method } = await eligible(catalogue, request);
    const price = parseUsd(method.executePriceUsd ?? "0");
    const count = (outcome: string, succeeded: boolean | null) =>
      observer.called({ listing, account, outcome, succeeded, isPriced: price > 0n, durationMs: durationMs() });
    const textOf = (args: ExecuteRequest["args"]) => canonicalJson({ method: method.name, arguments: args });
    // Before anything is held: what can be known of nobody, or cannot be written down, is refused here and costs nobody a hold.
    const help = `${options.publicUrl}/account`;
    const withContext = await prepareContext(method, () => options.linkedWallets(account), providers, help);
    const askedText = textOf(request.args);

    const place = await placeFor(request, account, price, opens);
    // A session that exists is raised with the call; a new one was started with what was signed.
    const signed = request.sessionId === null ? null : request.signed;
    const held = place === null ? null : await hold(place, { callId, listing, method, price, signed });
    // Only for whoever can pay are others asked what they know of a wallet.
    const args = await withContext(request.args).catch(async (error: unknown) => {
      const told = await reporter.report(reportOf("failed", hashesOf(askedText, null, method)));
      const session = shownIn(held && shownAfter(held, told, null), request);
      if (error instanceof ExecutionFailed && session !== null) error.body.session = session;
      throw error;
    });
    const requestText = args === request.args ? askedText : textOf(args);
    const { endpoint, toolId } = listing;
    calling?.();
    const calls = mcp.connect(endpoint).callTool(method.name, args, {
      token: () => sign({ endpoint, toolId, payer: account }),
      account,
      requestId: callId,
      ...(held !== null && { meta: { [CHARGE_META]: chargeOf(callId, held, toolId) } }),
      ...(signal && { signal }),
      ...(method._meta.rateLimit && { rateLimit: method._meta.rateLimit }),
    });
    const outcome = await calls.catch(async (error: unknown) => {
      // Nothing of the tool's, such as a key that cannot sign: nobody was called, and nothing stays reserved for it.
      await reporter.report(reportOf("failed", hashesOf(requestText, null, method)));
      throw error;
    });

    if (outcome.kind !== "answered") {
      count(outcome.kind, isTheToolsDoing(outcome, judge, method, args) ? false : null);
      const told = await reporter.report(reportOf("failed", hashesOf(requestText, null, method)));
      throw failureOf(outcome, held && shownAfter(held, told, null), request, options.publicUrl);
    }

    // What goes wrong here between the answer and its keeping is nobody's debt: nothing stays reserved for it.
    const { judged, hashes } = await weigh(outcome).catch(async (error: unknown) => {
      await reporter.report(reportOf("failed", hashesOf(requestText, null, method)));
      throw error;
    });
    if (judged.kind === "refused") {
      const told = await reporter.report(reportOf("failed", hashes));
      const session = shownIn(held && shownAfter(held, told, null), request);
      const message = `the tool answered something else than it promises: ${judged.problem}`;
      throw new ExecutionFailed(message, { session, isKept: true });
    }

    const charged = judged.kind === "delivered" ? price : microUsdc(0n);
    const delivered = {
      resultText: JSON.stringify(outcome.result) ?? "null",
      listing,
      method,
      durationMs: durationMs(),
      warnings:
        judged.kind === "mismatched"
          ? [
              `The answer is something else than the method promises, and is not charged: ${judged.problem}. ` +
                `What was kept of it is at /api/v1/evidence/${callId}.`,
            ]
          : [],
      signedAnswer: signedIn(outcome),
    };
    const answerIn = (session: ExecuteSession): ExecuteAnswer => ({
      status: 200,
      text: successText({ ...delivered, session }),
    });
    const report = reportOf(judged.kind === "delivered" ? "delivered" : "failed", hashes);
    let answer = answerIn(held === null ? freeSession : sessionAfter(held, charged, request));
    // What nobody can be given, nobody pays for.
    if (hasRoom !== undefined && !hasRoom(sizeOf(answer.text))) {
      await reporter.report(reportOf("failed", hashes));
      throw unread();
    }
    await keep?.(answer, report, charged > 0n);
    // What the session has spent with all that ran beside this call, the daemon knows. Many megabytes are not written twice for that.
    const isFinal = held === null || held.isImplicit || (keep !== undefined && answer.text.length > MAX_AMENDED);
    const told = await reporter.report(
      report,
      keep === undefined
        ? null
        : {
            async told(sql, session) {
              if (held === null || isFinal || session === null) return;
              answer = answerIn(shownAfter(held, session, charged));
              await amend?.(sql, answer, charged > 0n);
            },
          },
    );
    if (charged > 0n && told !== null) observer.paid(listing, account, charged);
    return held === null || isFinal || keep !== undefined ? answer : answerIn(shownAfter(held, told, charged));

    // The session as the daemon says that the report has left it, or else as it follows from the hold.
    function shownAfter(held: Held, told: SessionView | null, charged: MicroUsdc | null): ExecuteSession {
      const after = sessionAfter(held, charged, request);
      if (held.isImplicit) return after;
      const session = sessions.newest(told ?? (after as SessionView));
      return { ...session, methodPrice: after.methodPrice };
    }

    async function weigh(answered: Answered): Promise<{ judged: Judged; hashes: Hashes }> {
      const judged = judgeAnswer(judge, listing, method, answered);
      count(judged.kind, judged.kind === "delivered");
      const responseText = canonicalJson(contentOf(answered));
      const hashes = hashesOf(requestText, responseText, method);
      if (judged.kind === "delivered") return { judged, hashes };
      const evidence = {
        callId,
        toolId,
        method: method.name,
        account,
        hashes,
        problem: judged.problem,
        request: requestText,
        response: responseText,
        outputSchema: canonicalJson(method.outputSchema ?? null),
        signedAnswer: signedIn(answered),
      };
      await store.shared((sql) => keepEvidence(sql, evidence, clock.nowMs()));
      return { judged, hashes };
    }

    function reportOf(outcome: Report["outcome"], hashes: Hashes): Report | null {
      if (held === null) return null;
      return { callId, outcome, hashes, closes: request.closeSession ? held.sessionId : null };
    }
  };

  // Where the price is held: in the session that was named, in a new one, or in one of this call's own; nowhere if the method
  // is free and no session was named.
  async function placeFor(
    request: ExecuteRequest,
    account: Address,
    price: MicroUsdc,
    opens: string | undefined,
  ): Promise<Place | null> {
    const { sessionId, maxSpendUsd, signed } = request;
    if (sessionId !== null) {
      const budget = await sessions.budgetOf(account, sessionId);
      if (maxSpendUsd !== null && parseUsd(maxSpendUsd) !== budget) {
        throw new ApiError("max_spend_mismatch", `the session's budget is ${formatUsd(budget)}; leave maxSpendUsd out`);
      }
      return { sessionId, isImplicit: false };
    }
    if (maxSpendUsd !== null) {
      return { sessionId: await startFor(account, { maxSpendUsd, signed }, opens), isImplicit: false };
    }
    if (price === 0n) return null;
    const id = randomUUID();
    const maxSpendOfPrice = formatUsd(price);
    await settlement.openSession({
      sessionId: id,
      payer: account,
      maxSpendUsd: maxSpendOfPrice,
      ttlMs: IMPLICIT_SESSION_MS,
      signed,
    });
    return { sessionId: id, isImplicit: true };
  }

  // What was refused and is asked for again goes on in the session that it has opened before, unless that is over or was for
  // something else: whoever asks again under a key opens no second one.
  async function startFor(
    account: Address,
    session: { maxSpendUsd: string; signed: SignedBudget | null },
    id: string | undefined,
  ): Promise<string> {
    if (id !== undefined) {
      const started = await sessions.start(account, { ...session, id }).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === "conflict") return null;
        throw error;
      });
      if (started?.status === "open") return id;
    }
    const another = randomUUID();
    await sessions.start(account, { ...session, id: another });
    return another;
  }

  async function hold(
    { sessionId, isImplicit }: Place,
    { callId, listing, method, price, signed }: Holding,
  ): Promise<Held> {
    const call = { callId, sessionId, toolId: listing.toolId, method: method.name, priceUsd: formatUsd(price), signed };
    try {
      const { session } = await settlement.hold(call);
      // What is held can be captured after the close, so this need not wait for the call.
      if (isImplicit) void settlement.closeSession(sessionId).catch(() => undefined);
      return { sessionId, isImplicit, session, price };
    } catch (error) {
      // It may have been held, and only the answer was lost.
      if (error instanceof ApiError && error.code === "unavailable") await reporter.giveUp(callId);
      // Nobody knows of it, and whoever asks again has another one.
      else if (isImplicit) void settlement.closeSession(sessionId).catch(() => undefined);
      throw error;
    }
  }
}

type Holding = {
  callId: string;
  listing: Listing;
  method: Method;
  price: MicroUsdc;
  signed: SignedBudget | null;
};
type Place = { sessionId: string; isImplicit: boolean };
type Held = Place & { session: SessionView; price: MicroUsdc };

async function eligible(
  catalogue: Catalogue,
  { toolId, method: name }: ExecuteRequest,
): Promise<{ listing: Listing; method: Method }> {
  const listing = await catalogue.find(toolId);
  if (listing === null) throw new ApiError("not_found", `there is no tool ${toolId}`);
  if (!isOffered(listing)) {
    const why = isStaked(listing) ? "it is delisted" : "its stake is below what it requires";
    throw new ApiError("method_not_execute_eligible", `the tool is not offered at present: ${why}`);
  }
  const { methods } = listing;
  const method = methods.find((candidate) => candidate.name === name);
  if (method === undefined) {
    const suggestion = suggestionOf(
      name,
      methods.map((candidate) => candidate.name),
    );
    const wayOut = suggestion || `; GET /api/v1/tools/${toolId} lists those that it has`;
    throw new ApiError("invalid_tool_method", `the tool has no method ${JSON.stringify(name)}${wayOut}`);
  }
  if (!method.executeEligible) {
    const why = method.executePriceUsd === null ? "has no execute price" : "is for answers only";
    throw new ApiError(
      "method_not_execute_eligible",
      `the method ${name} ${why}; search with mode=execute for what can be called`,
    );
  }
  return { listing, method };
}

// The charge that a call becomes if it is captured. A tool that signs its answers names it.
const chargeOf = (callId: string, { sessionId }: Held, toolId: string) =>
  chargeIdOfCall({ callId, sessionId, toolId: toolIdFromUuid(toolId) });

// What the tool has signed of its answer, for the schema court.
const signedIn = ({ raw }: Answered): unknown => raw._meta?.[ANSWER_META];

const hashesOf = (request: string, response: string | null, method: Method): Hashes => ({
  requestHash: hashText(request),
  responseHash: response === null ? NO_HASH : hashText(response),
  schemaHash: schemaHashOf(method),
});

function failureOf(
  outcome: Exclude<CallOutcome, Answered>,
  session: ExecuteSession | null,
  request: ExecuteRequest,
  publicUrl: string,
): ApiError {
  const details = shownIn(session, request);
  if (outcome.kind === "handshakeRequired") {
    return new ExecutionFailed(describeToBuyer(outcome), {
      code: "action_requires_signature",
      session: details,
      isKept: true,
      // Where a person reads what the tool does and who offers it.
      helpUrl: `${publicUrl}/tools/${request.toolId}`,
    });
  }
  // Nothing was sent: the next request under the same key may go better.
  const isKept = outcome.kind === "toolFailed" || outcome.sent;
  return new ExecutionFailed(describeToBuyer(outcome), { session: details, isKept });
}

// Errors carry the session that the buyer named or opened.
const shownIn = (session: ExecuteSession | null, { sessionId, maxSpendUsd }: ExecuteRequest) =>
  session !== null && (sessionId !== null || maxSpendUsd !== null) ? (session as SessionView) : null;

// A call outside of any session, as buyers see it: without an id or a budget.
const outsideOf = (price: MicroUsdc, spent: MicroUsdc): ExecuteSession => ({
  mode: "execute",
  sessionId: null,
  methodPrice: formatUsd(price),
  spent: formatUsd(spent),
  remaining: null,
  maxSpend: null,
});

const freeSession = outsideOf(microUsdc(0n), microUsdc(0n));

// The session once the call is reported: what was held is spent, or free again. It follows from the hold, because the answer
// is kept before the report is made.
function sessionAfter(
  { session, price, isImplicit }: Held,
  charged: MicroUsdc | null,
  request: ExecuteRequest,
): ExecuteSession {
  const spent = charged ?? microUsdc(0n);
  if (isImplicit) return outsideOf(price, spent);
  const back = microUsdc(price - spent);
  const isClosing = request.closeSession && session.status === "open";
  const pending = isClosing || spent === 0n ? 0 : 1;
  return {
    ...session,
    methodPrice: formatUsd(price),
    spent: formatUsd(microUsdc(parseUsd(session.spent) + spent)),
    remaining: formatUsd(microUsdc(parseUsd(session.remaining) + back)),
    status: isClosing ? "closed" : session.status,
    closeRequested: session.closeRequested || request.closeSession,
    pendingAccruedCount: isClosing ? 0 : session.pendingAccruedCount + pending,
    pendingAccruedUsd: isClosing
      ? formatUsd(microUsdc(0n))
      : formatUsd(microUsdc(parseUsd(session.pendingAccruedUsd) + spent)),
  };
}
