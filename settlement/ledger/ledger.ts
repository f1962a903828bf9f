import type { Address, Hex } from "viem";
import type { ApiKey, NewApiKey } from "../domain/apiKey.ts";
import type { BatchOutcome, ChargeFailure, Net } from "../domain/batch.ts";
import type { Charge } from "../domain/charge.ts";
import type { MicroUsdc } from "../domain/money.ts";
import type { Exposure } from "../domain/payer.ts";
import type { Capture, Hold, Session } from "../domain/session.ts";
import type { Earning, Place, StatementQuery } from "../domain/statement.ts";
import type { Broadcast, Inclusion, Submission, SubmissionKind } from "../domain/submission.ts";
import type { ToolId } from "../domain/toolId.ts";
import type { Turn } from "../domain/turn.ts";
import type { Figures } from "./figures.ts";

// The durable memory of the service. A promise that resolves means that what it says is on disk. Every verb is one
// transaction; verbs that run at the same time may share one (group commit). Addresses may be given in any case and come
// back in lower case.
export type Ledger = Accruals &
  Sessions &
  Callers &
  Operators &
  Submissions &
  Upkeep &
  Token &
  Inspection &
  Statements & { close(): Promise<void> };

// ── What is delivered becomes charges.
export type Accruals = {
  // The same turn again is `duplicate`; the same id with other contents is `conflict` and changes nothing.
  recordTurn(turn: Turn, nowMs: number): Promise<{ kind: "recorded" | "duplicate"; chargeIds: Hex[] } | Conflict>;
  exposures(payers: readonly Address[]): Promise<Exposure[]>;
  // The platform was made whole for what it absorbed; the payer may go on. Returns what was owed.
  clearDebt(payer: Address): Promise<MicroUsdc>;
};

export type Conflict = { kind: "conflict" };

// When session charges are handed to settlement without waiting for the close.
export type FlushPolicy = { maxCount: number; maxAmount: MicroUsdc; maxAgeMs: number };

export type HoldOutcome =
  | { kind: "held" | "duplicate"; hold: Hold; session: Session }
  | { kind: "session_closed" | "session_expired" | "session_budget_exceeded"; session: Session }
  | { kind: "session_not_found" }
  | Conflict;

export type CaptureOutcome =
  | { kind: "captured" | "duplicate"; hold: Hold; session: Session; chargeId: Hex }
  // It was voided before, by the caller or because its session ended.
  | { kind: "voided"; hold: Hold; session: Session }
  | { kind: "hold_not_found" };

export type VoidOutcome =
  | { kind: "voided" | "duplicate"; hold: Hold; session: Session }
  | { kind: "captured"; hold: Hold; session: Session }
  | { kind: "hold_not_found" };

export type Sessions = {
  openSession(
    session: { id: string; payer: Address; maxSpend: MicroUsdc; expiresAtMs: number },
    nowMs: number,
  ): Promise<{ kind: "opened" | "duplicate"; session: Session } | Conflict>;
  session(id: string): Promise<Session | null>;
  // Reserves a call's price: atomically, so that spent + held never exceeds the budget.
  hold(
    call: { callId: string; sessionId: string; toolId: ToolId; method: string; amount: MicroUsdc },
    nowMs: number,
  ): Promise<HoldOutcome>;
  // Turns a hold into a charge, unless it is free, and flushes the session's charges once the policy says so. A hold of a session that was
  // closed meanwhile is still captured: the call was delivered within its budget.
  capture(capture: Capture, policy: FlushPolicy, nowMs: number): Promise<CaptureOutcome>;
  void(callId: string): Promise<VoidOutcome>;
  // No further holds; what was captured is flushed at once. Running calls may still be captured or voided.
  closeSession(
    id: string,
    nowMs: number,
  ): Promise<{ kind: "closed" | "duplicate"; session: Session } | { kind: "session_not_found" }>;
  // Ends the sessions whose time is over, voids holds that are older than `holdTtlMs` and flushes what is due by age.
  // Bounded by `limit` per kind; returns how much there was to do.
  sweepSessions(
    policy: FlushPolicy,
    holdTtlMs: number,
    nowMs: number,
    limit: number,
  ): Promise<{ expired: number; voided: number; flushed: number }>;
};

// ── Who asks, and what was answered.
export type Answer = { status: number; body: string };

export type Callers = {
  // The same id again is `duplicate` for the same payer and label, whatever its hash: a key is shown once.
  createApiKey(key: NewApiKey, nowMs: number): Promise<{ kind: "created" | "duplicate"; apiKey: ApiKey } | Conflict>;
  // Null if there is no such key.
  revokeApiKey(id: string, nowMs: number): Promise<ApiKey | null>;
  apiKeyByHash(hash: Hex): Promise<ApiKey | null>;
  // Oldest first.
  apiKeys(payer: Address | null, limit: number, offset: number): Promise<ApiKey[]>;
  // Takes a caller's Idempotency-Key for a request, or gives back what the same request was answered before.
  claimKey(
    claim: { caller: string; key: string; digest: Hex },
    nowMs: number,
  ): Promise<{ kind: "claimed" } | { kind: "answered"; answer: Answer } | Conflict>;
  // Keeps the answer for ever and returns the one that counts: the first.
  saveAnswer(caller: string, key: string, answer: Answer): Promise<Answer>;
};

// ── One writer per operator key.
// The token grows with every new holder. Whoever writes for an operator shows its lease; a writer that lost it meanwhile
// gets a SettlementError "fenced" and has changed nothing.
export type Lease = { operator: Address; holder: string; token: number; untilMs: number };

export type Operators = {
  // A new or continued lease, or null while somebody else's has not run out.
  acquireLease(operator: Address, holder: string, ttlMs: number, nowMs: number): Promise<Lease | null>;
  releaseLease(lease: Lease): Promise<void>;
  // Every operator that ever had a lease. The holder is null while nobody has it; whether `untilMs` has passed is for
  // the caller's clock to say.
  operators(): Promise<{ operator: Address; holder: string | null; untilMs: number; nextNonce: number }[]>;
  // A reason why nothing may be submitted by anybody, kept until it is lifted.
  halt(reason: string, nowMs: number): Promise<void>;
  halted(): Promise<{ reason: string; sinceMs: number } | null>;
  resume(): Promise<void>;
};

export type Upkeep = {
  // Forgets at most `limit` steps of the time line that lie before this time, and returns how many there were.
  forgetFigures(beforeMs: number, limit: number): Promise<number>;
};

// ── From due charges to final ones.
export type RetryPolicy = {
  // After this many failures of the payer the platform absorbs the charge. The insurance account is tried for ever.
  maxAttempts: number;
  insurance: Address;
  // How long to wait after the n-th failure. Passed in with its randomness, so that a test can decide it.
  backoffMs: (attempts: number) => number;
};

export type DuePayer = { chargedTo: Address; amount: MicroUsdc; charges: number; oldestDueAtMs: number };

export type Submissions = {
  // The accounts with due charges, longest waiting first.
  duePayers(nowMs: number, limit: number): Promise<DuePayer[]>;
  // Takes the due charges of these accounts (at most `maxCharges`, longest waiting first), lets `net` make a batch of
  // them, and stores the batch, its receipts and its planned submission. Charges that `net` calls unpayable fail once.
  // `net` is pure and may be called again if the transaction has to be repeated. Returns null if no batch came out.
  planBatch(
    lease: Lease,
    request: { accounts: readonly Address[]; maxCharges: number; router: Address; net: Net; retry: RetryPolicy },
    nowMs: number,
  ): Promise<Submission | null>;
  // A submission other than a batch. The same id again changes nothing; a nonce that is taken answers with its owner.
  planSubmission(
    lease: Lease,
    submission: { id: Hex; kind: "payout" | "fill"; to: Address; calldata: Hex; nonce: number | null },
    nowMs: number,
  ): Promise<Submission>;
  // Gives the submission the operator's next nonce, at least `chainNonce`, unless it has one. Saved before anything is
  // signed, so that a signer that hangs or a crash leaves no gap.
  assignNonce(lease: Lease, id: Hex, chainNonce: number, gasLimit: bigint): Promise<Submission>;
  // Saves signed bytes. Only bytes that were saved are ever sent.
  saveBroadcast(lease: Lease, id: Hex, broadcast: Broadcast): Promise<Submission>;
  // Takes a planned batch apart before anything was signed: `drop` (accounts whose row cannot even be simulated) wait for
  // `waitMs` without using up an attempt, all other charges are due again at once. If it has a nonce, that goes to a
  // planned `fill`, which `openSubmissions` then shows.
  unplanBatch(lease: Lease, id: Hex, drop: readonly Address[], waitMs: number, nowMs: number): Promise<void>;
  // Everything of this operator that is not final or released, by nonce; planned ones without a nonce come last.
  openSubmissions(operator: Address): Promise<Submission[]>;
  // Mined at head. `outcome` is null for a revert and for anything that is not a batch.
  recordInclusion(
    lease: Lease,
    id: Hex,
    inclusion: Inclusion,
    status: "success" | "reverted",
    outcome: BatchOutcome | null,
  ): Promise<void>;
  // A reorganisation took it out of the chain: it is submitted again.
  recordLoss(lease: Lease, id: Hex): Promise<void>;
  // Recorded as included, and now below the chain's finalized block: charges become final or absorbed, refused, or due again.
  finalize(lease: Lease, id: Hex, outcome: BatchOutcome | null, retry: RetryPolicy, nowMs: number): Promise<void>;
  // Its nonce is spent for good without it: its charges are due again and no attempt is used up.
  release(lease: Lease, id: Hex, nowMs: number): Promise<void>;
};

// ── The token's code, which its owner can exchange.
export type Token = {
  // Remembers it, and says what came before if it is another than the last time.
  noteTokenImplementation(implementation: Address, nowMs: number): Promise<{ previous: Address } | null>;
  // Newest first.
  tokenImplementations(): Promise<{ implementation: Address; seenAtMs: number }[]>;
};

// ── Reading, for people, proofs and audits.
export type Totals = {
  accrued: MicroUsdc;
  pending: MicroUsdc;
  settled: MicroUsdc;
  absorbed: MicroUsdc;
  refused: MicroUsdc;
  voided: MicroUsdc;
};

export type SettledBatch = {
  root: Hex;
  operator: Address;
  state: "planned" | "submitted" | "included" | "reverted" | "final" | "released";
  rows: number;
  charges: number;
  total: MicroUsdc;
  outcome: BatchOutcome | null;
  inclusion: Inclusion | null;
  createdAtMs: number;
  finalAtMs: number | null;
};

export type FinalBatches = { roots: ReadonlySet<Hex>; charged: MicroUsdc };

// Times in milliseconds; steps are whole multiples of ten seconds.
export type TimelineQuery = { fromMs: number; toMs: number; stepMs: number };

export type Inspection = {
  charge(id: Hex): Promise<Charge | null>;
  // The charges of a turn or of a call.
  chargesOf(source: { turnId: string } | { callId: string }): Promise<Charge[]>;
  // The leaves of a batch as it was built, whatever became of its charges later.
  receiptsOf(root: Hex): Promise<{ chargeId: Hex; leaf: Hex }[]>;
  batch(root: Hex): Promise<SettledBatch | null>;
  submission(id: Hex): Promise<Submission | null>;
  // The accounts that a batch charges.
  accountsOf(root: Hex): Promise<Address[]>;
  // Everybody who was ever credited by a final batch.
  payees(): Promise<Address[]>;
  // Newest first.
  batches(limit: number, offset: number): Promise<SettledBatch[]>;
  // Every batch that is final, and what they have charged together, as of one moment.
  finalBatches(): Promise<FinalBatches>;
  // By final state of every charge: accrued = pending + settled + absorbed + refused + voided, always.
  totals(): Promise<Totals>;
  // What happened in each step, empty ones included. Steps begin at whole multiples of their length. Goes back a month.
  timeline(query: TimelineQuery): Promise<({ atMs: number } & Figures)[]>;
  // What each tool was charged in final batches, and each account paid, for comparison with the chain.
  settledByTool(): Promise<{ toolId: ToolId; amount: MicroUsdc }[]>;
  settledByAccount(): Promise<{ account: Address; amount: MicroUsdc }[]>;
  failures(chargeId: Hex): Promise<{ reason: ChargeFailure; atMs: number }[]>;
  gauges(): Promise<Gauges>;
  // A sentence for every sum, and every counter of a payer or a session, that is not what its charges and holds add up to:
  // none, always.
  audit(): Promise<string[]>;
};

// ── Pages for payers and developers.
export type ToolEarnings = { toolId: ToolId; batches: number; amount: MicroUsdc; developerShare: MicroUsdc };

// What has not come to its end yet, and how often payers could not pay.
export type Gauges = {
  failures: { reason: ChargeFailure; count: number }[];
  accrued: { count: number; amount: MicroUsdc; oldestDueAtMs: number | null };
  openSessions: number;
  holds: { count: number; amount: MicroUsdc; oldestHeldAtMs: number | null };
  submissions: {
    kind: SubmissionKind;
    state: "planned" | "submitted" | "included" | "reverted";
    count: number;
    oldestCreatedAtMs: number;
  }[];
  debt: MicroUsdc;
};

export type Statements = {
  chargesOfPayer(payer: Address, query: StatementQuery): Promise<Charge[]>;
  // Of everybody or of one payer, newest first, from before a place on.
  newestCharges(payer: Address | null, before: Place | null, limit: number): Promise<Charge[]>;
  earningsOf(payee: Address, query: StatementQuery): Promise<Earning[]>;
  // Newest first.
  sessionsOfPayer(payer: Address, limit: number, offset: number): Promise<Session[]>;
  newestSessions(limit: number, offset: number): Promise<Session[]>;
  // Debts first, then what is pending.
  payersByExposure(limit: number, offset: number): Promise<Exposure[]>;
  earningsByTool(limit: number, offset: number): Promise<ToolEarnings[]>;
  earningsOfTool(toolId: ToolId): Promise<ToolEarnings | null>;
  call(callId: string): Promise<Hold | null>;
};
