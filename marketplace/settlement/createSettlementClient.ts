import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "undici";
import type { Address, Hex } from "viem";
import {
  type ApiCode,
  ApiError,
  type ErrorBody,
  PAYER_REFUSALS,
  SESSION_REFUSALS,
} from "../../settlement/daemon/http/errors.ts";
import type { BudgetView } from "../../settlement/views/budget.ts";
import type { CallView } from "../../settlement/views/call.ts";
import type { ChargeView } from "../../settlement/views/charge.ts";
import type { SpendableView } from "../../settlement/views/payer.ts";
import type { SessionView } from "../../settlement/views/session.ts";
import type { SignedBudget } from "./signedBudget.ts";

// What a payer has signed may come with whatever it is to pay for.
type Signed = { signed?: SignedBudget | null };
export type OpenSession = Signed & { sessionId: string; payer: Address; maxSpendUsd: string; ttlMs: number };
export type HoldCall = Signed & { callId: string; sessionId: string; toolId: string; method: string; priceUsd: string };
export type Earnings = { batches: number; settledUsd: string; developerShareUsd: string };
// A Query turn that was delivered; its id makes it happen once.
export type RecordTurn = Signed & {
  turnId: string;
  payer: Address;
  outcome: "delivered" | "failed";
  modelCostUsd: string;
  tools: readonly { toolId: string; amountUsd: string; calls: number; schemaHash: Hex }[];
  requestHash: Hex;
  responseHash: Hex;
};
// What a question may cost at the most, under the id of its turn.
export type HoldTurn = Signed & { turnId: string; payer: Address; amountUsd: string };
// A question for which nothing is owed in the end.
export type VoidTurn = { turnId: string; payer: Address; outcome: "voided" };
export type Hashes = { requestHash: Hex; responseHash: Hex; schemaHash: Hex };

// The settlement daemon, as the marketplace needs it. Every verb names what it makes, so that asking twice is asking once,
// and is asked again if no answer came. A refusal of the daemon's is thrown as the ApiError that the caller is answered.
export type SettlementClient = {
  openSession(session: OpenSession): Promise<SessionView>;
  // Null if there is none.
  findSession(sessionId: string): Promise<{ payer: Address; session: SessionView } | null>;
  closeSession(sessionId: string): Promise<SessionView>;
  hold(call: HoldCall): Promise<{ call: CallView; session: SessionView }>;
  capture(callId: string, hashes: Hashes): Promise<SessionView>;
  void(callId: string): Promise<SessionView>;
  // Throws the refusal if the payer cannot pay the amount beside what it owes and runs already. Asked again, its time begins again.
  holdTurn(hold: HoldTurn): Promise<void>;
  // Of what was held for the turn no more is kept than it costs.
  recordTurn(turn: RecordTurn): Promise<void>;
  voidTurn(turn: Omit<VoidTurn, "outcome">): Promise<void>;
  // What a turn is charged, as far as it has come. Null if the daemon has not heard of it, or it costs nothing.
  findTurn(turnId: string): Promise<readonly ChargeView[] | null>;
  keepBudget(payer: Address, signed: SignedBudget): Promise<void>;
  listBudgets(payer: Address): Promise<readonly BudgetView[]>;
  // What a payer could be charged now, and what it has paid in advance.
  readFunds(payer: Address): Promise<SpendableView>;
  // What a payer was charged for in a batch, with its proof, as JSON. Throws `not_found` if the payer has no receipts there. They may be
  // many megabytes, and are handed on as they come: whoever would read them here keeps everybody else waiting.
  receiptsOf(payer: Address, batchId: Hex): Promise<Readable>;
  nameTool(toolId: string, name: string): Promise<void>;
  // Of a tool, in final batches.
  earnings(toolId: string): Promise<Earnings>;
  // Throws unless the daemon can do its work.
  ready(): Promise<void>;
  close(): Promise<void>;
};

// What the daemon says no with, and the caller can do something about. Anything else is between the two services.
const REFUSALS: ReadonlySet<string> = new Set<ApiCode>([
  "no_wallet",
  ...PAYER_REFUSALS,
  "price_exceeded",
  "invalid_max_spend",
  "method_not_execute_eligible",
  ...SESSION_REFUSALS,
  "too_many_sessions",
  "conflict",
  "not_found",
]);

// Those that the payer settles with the chain.
const WITH_HELP: ReadonlySet<string> = new Set<ApiCode>([
  "no_wallet",
  ...PAYER_REFUSALS.filter((code) => code !== "payment_failed"),
]);

// What the daemon says to the marketplace, in words for whoever buys from it: many can send nothing but their question.
const CONSENT =
  "this account's wallet demands consent: sign a budget with npx hardhat budget sign --into budget.json, and send what is in " +
  "that file, budget and signature, with the request, or once to POST /api/v1/budgets for all that follow";

const TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 64;
const MAX_SLOW_CONNECTIONS = 16;
const TRIES = 3;
const FIRST_WAIT_MS = 100;
// What the daemon takes as a name in an address; nothing else can be one of its sessions.
const NAME = /^[A-Za-z0-9._:~-]{1,200}$/;

// What stands between the two may answer in its own way.
function bodyOf(text: string): ErrorBody {
  try {
    return JSON.parse(text) as ErrorBody;
  } catch {
    return { error: text, code: "internal" };
  }
}

export class SettlementUnavailable extends ApiError {
  constructor(reason: string) {
    super("unavailable", "settlement cannot be reached at present; try again in a moment");
    this.cause = reason;
  }
}

export type SettlementClientOptions = { url: string; token: string; helpUrl: string | null };

export function createSettlementClient({ url, token, helpUrl }: SettlementClientOptions): SettlementClient {
  const poolOf = (connections: number) =>
    new Pool(new URL(url).origin, {
      connections,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      connect: { timeout: TIMEOUT_MS },
    });
  const pool = poolOf(MAX_CONNECTIONS);
  // What is handed on as it comes takes as long as its reader likes, and keeps none of the others waiting.
  const slowPool = poolOf(MAX_SLOW_CONNECTIONS);
  const base = new URL(url).pathname.replace(/\/$/, "");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

  const once = (method: "GET" | "POST", path: string, body?: object, from = pool) =>
    from.request({ method, path: base + path, headers, ...(body && { body: JSON.stringify(body) }) });

  type Body = Awaited<ReturnType<typeof once>>["body"];

  // What `read` makes of the answer, which is asked for again if it does not come.
  async function answerTo<T>(
    method: "GET" | "POST",
    path: string,
    body: object | undefined,
    read: (body: Body) => Promise<T>,
    from = pool,
  ): Promise<T> {
    let reason = "";
    for (let tries = 1; tries <= TRIES; tries += 1) {
      if (tries > 1) await pause(FIRST_WAIT_MS * 4 ** (tries - 2));
      let refused: { status: number; text: string };
      try {
        const { statusCode: status, body: answer } = await once(method, path, body, from);
        if (status < 300) return await read(answer);
        refused = { status, text: await answer.text() };
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
        continue;
      }
      const { status, text } = refused;
      reason = `${method} ${path} was answered ${status}: ${text.slice(0, 500)}`;
      // A daemon that is busy has room in a moment; a payer that has too much open has not.
      const isBusy = status === 429 && bodyOf(text).code !== "too_many_sessions";
      if (status < 500 && !isBusy) throw refusalOf(text, reason);
    }
    throw new SettlementUnavailable(reason);
  }

  async function ask<T>(method: "GET" | "POST", path: string, body?: object): Promise<T> {
    return JSON.parse(await answerTo(method, path, body, (answer) => answer.text())) as T;
  }

  function refusalOf(text: string, reason: string): Error {
    const { error, code, session, listed, ...given } = bodyOf(text);
    if (!REFUSALS.has(code)) return new Error(reason);
    const help = WITH_HELP.has(code) ? (helpUrl ?? given.helpUrl ?? null) : null;
    return new ApiError(code, code === "consent_required" ? CONSENT : error, {
      helpUrl: help,
      ...(session && { session }),
      ...(listed && { listed }),
    });
  }

  const sessionOf = ({ session }: { session: SessionView }) => session;

  return {
    async openSession({ ttlMs, signed, ...session }) {
      const body = { ...session, ttlSeconds: Math.floor(ttlMs / 1_000), ...signed };
      return sessionOf(await ask("POST", "/v1/sessions", body));
    },
    async findSession(sessionId) {
      if (!NAME.test(sessionId)) return null;
      try {
        return await ask("GET", `/v1/sessions/${sessionId}`);
      } catch (error) {
        if (error instanceof ApiError && error.code === "session_not_found") return null;
        throw error;
      }
    },
    async closeSession(sessionId) {
      return sessionOf(await ask("POST", `/v1/sessions/${sessionId}/close`));
    },
    hold: ({ signed, ...call }) => ask("POST", "/v1/calls", { ...call, ...signed }),
    async capture(callId, hashes) {
      return sessionOf(await ask("POST", `/v1/calls/${callId}/capture`, hashes));
    },
    async void(callId) {
      return sessionOf(await ask("POST", `/v1/calls/${callId}/void`));
    },
    async holdTurn({ turnId, signed, ...hold }) {
      await ask("POST", `/v1/turns/${turnId}/hold`, { ...hold, ...signed });
    },
    async recordTurn({ signed, ...turn }) {
      await ask("POST", "/v1/turns", { ...turn, ...signed });
    },
    async voidTurn({ turnId, payer }) {
      await ask("POST", `/v1/turns/${turnId}/void`, { payer });
    },
    async keepBudget(payer, signed) {
      await ask("POST", `/v1/payers/${payer}/budgets`, signed);
    },
    async listBudgets(payer) {
      return (await ask<{ budgets: BudgetView[] }>("GET", `/v1/payers/${payer}/budgets`)).budgets;
    },
    readFunds: (payer) => ask("GET", `/v1/payers/${payer}/spendable`),
    receiptsOf: (payer, batchId) =>
      answerTo("GET", `/v1/payers/${payer}/batches/${batchId}/receipts`, undefined, async (answer) => answer, slowPool),
    async findTurn(turnId) {
      try {
        return (await ask<{ charges: ChargeView[] }>("GET", `/v1/turns/${turnId}`)).charges;
      } catch (error) {
        if (error instanceof ApiError && error.code === "not_found") return null;
        throw error;
      }
    },
    async nameTool(toolId, name) {
      await ask("POST", `/v1/tools/${toolId}`, { name });
    },
    earnings: (toolId) => ask("GET", `/v1/tools/${toolId}`),
    async ready() {
      const { statusCode, body } = await once("GET", "/ready");
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`the settlement daemon is not ready: ${text.slice(0, 500)}`);
    },
    async close() {
      await Promise.all([pool.close(), slowPool.close()]);
    },
  };
}
