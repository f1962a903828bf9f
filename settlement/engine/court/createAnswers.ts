import { LRUCache } from "lru-cache";
import type { Address, Hex } from "viem";
import type { Block } from "../../chain/chain.ts";
import type { Contest } from "../../domain/batch/contest.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { ContestOrder, Lease, NotedContest } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";
import { answerOf } from "./answerOf.ts";
import { receiptsOf } from "./receiptsOf.ts";

// A flood of contests is worked off from the one that ends first on and from the largest on, in turns: whoever contests a thousand
// small rows keeps no large one waiting, and what ends next has its turn as well. Those that there is nothing to answer with stay open
// until they end, and keep none of the others waiting: they come last, and do not count as looked through.
const PAGE = 200;
const MAX_OPEN = 50 * PAGE;
// How many of them are looked at in a tick: each takes a question to the chain, and the receipts of a batch.
const MAX_LOOKS_PER_TICK = 10;

export type Answers = ReturnType<typeof createAnswers>;

// Bounded, and without room for all of them from the start: most engines never see a contest.
const remember = <T extends {}>() => new LRUCache<string, T>({ maxSize: 2 * MAX_OPEN, sizeCalculation: () => 1 });

// Shows the receipts of rows that somebody has contested. The ledger knows what was contested, the chain what is still to be shown of
// it. An answer is a submission like any other: its nonce and its bytes are saved before it is sent, and it is looked for until it is
// final. One that comes twice is refused by the court, and nothing is lost but its gas.
export function createAnswers(context: EngineContext) {
  const { ledger, chain, clock, policy } = context;
  // When a contest was last looked at, and as what.
  const looked = remember<{ as: string; atMs: number }>();
  // Of which there was nothing to answer with when they were last looked at.
  const hopeless = remember<true>();
  // What was planned last, and how often the court has refused answers to a contest.
  const underway = new LRUCache<Hex, NotedContest>({ max: PAGE });
  const told = remember<true>();
  const refusals = remember<number>();
  // From which end the contests of an operator are worked off next.
  const orders = new Map<Address, ContestOrder>();

  // What the watch has found.
  async function note(contests: readonly Contest[]): Promise<void> {
    if (contests.length === 0) return;
    for (const contest of await ledger.noteContests(contests, clock.nowMs())) tell(contest);
  }

  function tell(contest: Contest): void {
    told.set(nameOf(contest), true);
    context.report({ kind: "contested", ...about(contest) });
  }

  // The next answer of this operator, or null if none can be given now. However many rows are contested, half of what may be on its
  // way is left for batches.
  async function planNext(lease: Lease, unmined: readonly Submission[]): Promise<Submission | null> {
    const { court } = chain;
    const underwayNow = unmined.filter(({ kind }) => kind === "answer").length;
    if (court === null || underwayNow >= Math.max(1, Math.floor(policy.maxInFlight / 2))) return null;
    const order = orders.get(lease.operator) ?? "largest";
    orders.set(lease.operator, order === "largest" ? "ending" : "largest");
    const contests = await listDue(lease.operator, order);
    if (contests.length === 0) return null;
    const [head, finalized] = await Promise.all([chain.head(), chain.finalized()]);
    for (const contest of contests) {
      looked.set(nameOf(contest), { as: stateOf(contest), atMs: clock.nowMs() });
      const planned = await look(lease, court, contest, head, finalized).catch((error) => skip(contest, error));
      if (planned === null) continue;
      // If it comes to nothing, it is not tried again at once.
      const as = stateOf({ ...contest, answers: contest.answers + 1, answer: { state: "abandoned" } });
      looked.set(nameOf(contest), { as, atMs: clock.nowMs() });
      underway.set(planned.id, contest);
      return planned;
    }
    return null;
  }

  // As many as are looked at in a tick.
  async function listDue(operator: Address, order: ContestOrder): Promise<NotedContest[]> {
    const hopeful: NotedContest[] = [];
    const others: NotedContest[] = [];
    let counted = 0;
    // As many as are remembered to be hopeless can be passed over.
    for (let offset = 0; offset < 3 * MAX_OPEN && counted < MAX_OPEN; offset += PAGE) {
      const page = await ledger.listOpenContests(operator, PAGE, offset, order);
      counted += page.filter((contest) => !hopeless.has(nameOf(contest))).length;
      for (const contest of page.filter(isDue)) (hopeless.has(nameOf(contest)) ? others : hopeful).push(contest);
      if (page.length < PAGE || hopeful.length >= MAX_LOOKS_PER_TICK) break;
    }
    return [...hopeful, ...others].slice(0, MAX_LOOKS_PER_TICK);
  }

  // What cannot be read now is read later; batches do not wait for it. Nor do they for a file of the archive that is damaged.
  function skip(contest: NotedContest, error: unknown): null {
    if (!(error instanceof SettlementError)) throw error;
    if (error.code === "archive_unavailable") {
      hopeless.set(nameOf(contest), true);
      unanswerable(contest, error.message);
    } else if (!error.retryable) throw error;
    return null;
  }

  // The court would not take an answer. Once, somebody has been faster; if it goes on, a person must look.
  function dropped(id: Hex, reason: string): void {
    const contest = underway.get(id);
    if (contest === undefined) return;
    const times = (refusals.get(nameOf(contest)) ?? 0) + 1;
    refusals.set(nameOf(contest), times);
    if (times > 1) unanswerable(contest, `the court refuses its receipts: ${reason}`);
  }

  function unanswerable(contest: NotedContest, reason: string): void {
    context.report({ kind: "contest_unanswerable", ...about(contest), reason });
  }

  // Not twice within a while, unless something has happened; and not while an answer to it is on its way, because what is still to be
  // shown depends on that.
  function isDue(contest: NotedContest): boolean {
    if (contest.answer?.state === "planned" || contest.answer?.state === "submitted") return false;
    const last = looked.get(nameOf(contest));
    const nowMs = clock.nowMs();
    return last?.as !== stateOf(contest) || nowMs - last.atMs >= policy.court.lookMs || nowMs < last.atMs;
  }

  async function look(
    lease: Lease,
    court: Address,
    contest: NotedContest,
    head: Block,
    finalized: Block,
  ): Promise<Submission | null> {
    const { batchId, account, answer } = contest;
    // A node that is behind the block of the last answer would have it answered again.
    if ((answer?.blockNumber ?? 0n) > head.number) return null;
    const { stage, untilMs } = await chain.contestOf(batchId, account, head);
    if (stage !== "contested" || head.timestampMs >= untilMs) {
      await conclude(lease, contest, finalized);
      return null;
    }
    const progress = await chain.progressOf(batchId, account, lease.operator, head);
    const next = answerOf(contest, progress, await receiptsOf(ledger, chain, batchId, account), policy.court);
    if (next.kind === "no_receipts") {
      hopeless.set(nameOf(contest), true);
      unanswerable(contest, next.reason);
      return null;
    }
    hopeless.delete(nameOf(contest));
    const planned = await ledger.planAnswer(
      lease,
      { batchId, account, court, calldata: next.calldata, answers: contest.answers },
      clock.nowMs(),
    );
    // Whoever has noted it may have died before it could tell anybody.
    if (!told.has(nameOf(contest))) tell(contest);
    return planned;
  }

  // Its end is written down when no reorg can change it any more.
  async function conclude(lease: Lease, { batchId, account, blockNumber, ...contest }: NotedContest, finalized: Block) {
    if (blockNumber > finalized.number) return;
    const { stage, untilMs } = await chain.contestOf(batchId, account, finalized);
    if (stage === "contested" && finalized.timestampMs < untilMs) return;
    const ended = stage === "answered" ? "answered" : stage === "none" ? "undone" : "lapsed";
    if (!(await ledger.closeContest(lease, batchId, account, ended))) return;
    context.report({ kind: "contest_ended", ended, ...about({ ...contest, batchId, account }) });
  }

  // While nothing may be signed nothing is answered, and whoever can change that must know how long there is.
  async function tellHeld(operator: Address, reason: string): Promise<void> {
    if (chain.court === null) return;
    for (const contest of await ledger.listOpenContests(operator, MAX_LOOKS_PER_TICK)) {
      if (contest.answer?.state === "included" || contest.answer?.state === "final") continue;
      unanswerable(contest, reason);
    }
  }

  return { note, planNext, dropped, tellHeld };
}

const nameOf = ({ batchId, account }: Pick<Contest, "batchId" | "account">) => `${batchId} ${account}`;
const stateOf = ({
  blockNumber,
  answers,
  answer,
}: Pick<NotedContest, "blockNumber" | "answers"> & { answer: { state: string } | null }) =>
  `${blockNumber} ${answers} ${answer?.state}`;

const about = ({ batchId, account, operator, charged, untilMs }: Omit<Contest, "blockNumber">) => ({
  batchId,
  account,
  operator,
  charged,
  untilMs,
});
