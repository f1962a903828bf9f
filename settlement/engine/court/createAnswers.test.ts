import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Chain } from "../../chain/chain.ts";
import { NO_BATCH } from "../../chain/router/settleCall.ts";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import type { Contest } from "../../domain/batch/contest.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { Lease, Ledger } from "../../ledger/ledger.ts";
import { ledgers, type Store } from "../../ledger/testing/backends.ts";
import {
  ALICE,
  accountOf,
  BOB,
  hashOf,
  leaseOf,
  OPERATOR,
  RETRY,
  ROUTER,
  turnOf,
  usdc,
} from "../../ledger/testing/fixtures.ts";
import { NOTHING_UNDERWAY } from "../batch/draw.ts";
import { net } from "../batch/net.ts";
import { NO_TOOL } from "../batch/receipt.ts";
import type { EngineContext } from "../context.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import { type Answers, createAnswers } from "./createAnswers.ts";

const DAY_MS = 86_400_000;
const TICK_MS = 2_000;
const DOMAIN = { chainId: 1, router: ROUTER };

describe.each(ledgers)("answers to contests on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let nowMs = 1_000_000;
  beforeAll(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterAll(() => store.remove());

  const chain = {
    chainId: 1,
    court: accountOf(0xc0),
    head: async () => ({ number: 10n, timestampMs: nowMs }),
    finalized: async () => ({ number: 10n, timestampMs: nowMs }),
    contestOf: async () => ({ stage: "contested", untilMs: nowMs + DAY_MS }),
    progressOf: async () => ({ linesHash: hashOf("none"), lastLeaf: hashOf("none") }),
  } as unknown as Chain;

  const contestOf = (fields: Partial<Contest>): Contest => ({
    batchId: hashOf("nobody's batch"),
    account: ALICE,
    operator: OPERATOR,
    contester: BOB,
    charged: 7n,
    untilMs: nowMs + DAY_MS,
    lines: [{ toolId: NO_TOOL, amount: 7n }],
    blockNumber: 5n,
    ...fields,
  });

  const contextOf = (own: Ledger, report: EngineContext["report"] = () => {}) =>
    ({ ledger: own, chain, clock: { nowMs: () => nowMs }, policy: DEFAULT_POLICY, report }) as unknown as EngineContext;

  let turns = 0;
  async function settled() {
    const lease = await leaseOf(ledger);
    turns += 1;
    await ledger.recordTurn(turnOf(`of alice ${turns}`, { payer: ALICE, modelCost: usdc(7), tools: [] }), 1);
    const funds = new Map([[ALICE, { ...spendableOf(ALICE, 10n ** 9n), refunding: 0n, isBeyondCredit: false }]]);
    const bounds = { maxRows: 10, maxLines: 10, maxCharges: 100, limit: 10n ** 9n, room: 10n ** 9n };
    const planned = await ledger.planBatch(
      lease,
      {
        accounts: [ALICE],
        maxCharges: 100,
        router: ROUTER,
        net: (charges) =>
          net(charges, funds, { ...bounds, previous: NO_BATCH, domain: DOMAIN, underway: NOTHING_UNDERWAY }),
        retry: RETRY,
      },
      2,
    );
    return { lease, batchId: planned?.id ?? expect.fail("nothing was due") };
  }

  async function planWithin(ticks: number, answers: Answers, lease: Lease, unmined: Submission[]) {
    for (let tick = 0; tick < ticks; tick++) {
      const planned = await answers.planNext(lease, unmined);
      if (planned !== null) return planned;
      nowMs += TICK_MS;
    }
    return null;
  }

  it("are given however many contests there is nothing to answer with", async () => {
    const { lease, batchId } = await settled();
    // Of a batch that was taken in from the chain, for example, there are no receipts.
    const hopeless = Array.from({ length: 400 }, (_, i) => contestOf({ account: accountOf(0x7000 + i) }));
    await ledger.noteContests(hopeless, nowMs);
    await ledger.noteContests([contestOf({ batchId, untilMs: nowMs + DAY_MS + 1_000 })], nowMs);
    const answers = createAnswers(contextOf(ledger));
    expect(await planWithin(100, answers, lease, [])).toMatchObject({ kind: "answer", state: { kind: "planned" } });
  });

  it("are given to a large row first, however many small ones end before it", async () => {
    const { lease, batchId } = await settled();
    const flood = Array.from({ length: 300 }, (_, i) => contestOf({ account: accountOf(0x9000 + i), charged: 1n }));
    await ledger.noteContests(flood, nowMs);
    const large = contestOf({ batchId, untilMs: nowMs + 2 * DAY_MS });
    await ledger.noteContests([large], nowMs);
    const answers = createAnswers(contextOf(ledger));
    // The largest has its turn, and then what ends first.
    const planned = (await answers.planNext(lease, [])) ?? (await answers.planNext(lease, []));
    expect(planned?.calldata).toContain(batchId.slice(2));
    nowMs += DEFAULT_POLICY.court.lookMs;
    // While it is on its way it is not answered again.
    for (let ticks = 0; ticks < 4; ticks++) expect(await answers.planNext(lease, [planned as never])).toBeNull();
  });

  it("are on their way beside each other, and leave room for batches", async () => {
    const [one, other] = [await settled(), await settled()];
    const answers = createAnswers(contextOf(ledger));
    await ledger.noteContests(
      [one, other].map(({ batchId }) => contestOf({ batchId })),
      nowMs,
    );
    const first = await planWithin(100, answers, one.lease, []);
    const second = await planWithin(100, answers, one.lease, [first as never]);
    expect([first?.kind, second?.kind]).toEqual(["answer", "answer"]);
    expect(second?.id).not.toBe(first?.id);
    expect(DEFAULT_POLICY.maxInFlight).toBe(4);
    expect(await answers.planNext(one.lease, [first, second] as never)).toBeNull();
  });

  it("wait for nothing, and batches for no answer, where a file of the archive is damaged", async () => {
    const lease = await leaseOf(ledger);
    await ledger.noteContests([contestOf({ batchId: hashOf("archived") })], nowMs);
    const damaged: Ledger = {
      ...ledger,
      findSubmission: async () => {
        throw new SettlementError("archive_unavailable", "a file of the archive is damaged");
      },
    };
    const events: string[] = [];
    const answers = createAnswers(contextOf(damaged, ({ kind }) => void events.push(kind)));
    expect(await answers.planNext(lease, [])).toBeNull();
    expect(events).toContain("contest_unanswerable");
  });
});
