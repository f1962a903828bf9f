import type { Address, Hex } from "viem";
import type { ChargeFailure, Net } from "../../../../settlement/domain/batch/batch.ts";
import type { DueCharge } from "../../../../settlement/domain/charges/charge.ts";
import { archive } from "../../../../settlement/engine/archive/archive.ts";
import { restore } from "../../../../settlement/engine/archive/restore.ts";
import { DEFAULT_POLICY } from "../../../../settlement/engine/policy.ts";
import type { FoundBatch } from "../../../../settlement/ledger/ledger.ts";
import {
  accountOf,
  hashOf,
  inclusionAt,
  netOf,
  outcomeOf,
  POLICY,
  RETRY,
  ROUTER,
  toolOf,
  usdc,
} from "../../../../settlement/ledger/testing/fixtures.ts";
import type { Rng } from "../../rng.ts";
import type { Daemon, Deed } from "../daemon.ts";
import { drawKeys } from "./keys.ts";
import { ACCOUNTS, HOLD_TTL_MS, MAX_AGE_MS, PAYERS } from "./names.ts";

const REASONS: readonly ChargeFailure[] = ["allowance", "balance"];

// One write of an engine's tick, or of a person's command.
export function drawStep(rng: Rng): Deed {
  const failed = new Set(rng.shuffled(ACCOUNTS).slice(0, rng.below(3)));
  const [reason, refuses, unpayable] = [rng.pick(REASONS), rng.happens(0.25), rng.happens(0.2)];
  const refusal = rng.pick(["unlisted", "earning_cap"] as const);
  const retry = { ...RETRY, maxAttempts: 2 };
  const block = BigInt(rng.between(1, 1_000));
  const [payer, n] = [rng.pick(PAYERS), rng.between(1, 1_000_000)];
  const outcome = outcomeOf({
    failed: [...failed].map((chargedTo) => ({ chargedTo, amount: usdc(0), reason })),
    refused: refuses
      ? PAYERS.map((chargedTo) => ({ chargedTo, toolId: toolOf(1), amount: usdc(0), reason: refusal }))
      : [],
    paid: rng.shuffled([1, 2, 3]).map((tool) => ({
      toolId: toolOf(tool),
      payee: accountOf(0xdef + tool),
      amount: usdc(1),
      developerShare: usdc(1),
    })),
  });
  const net = netOf(({ chargedTo }) => (unpayable && failed.has(chargedTo) ? reason : null));
  const plan = { accounts: ACCOUNTS, maxCharges: 6, router: ROUTER, retry };
  const found = (operator: Address, fields: Pick<FoundBatch, "batchId" | "otherRows" | "lost">): FoundBatch => ({
    operator,
    router: ROUTER,
    calldata: "0x01",
    rows: 1,
    inclusion: inclusionAt(block),
    outcome,
    taken: PAYERS.map((chargedTo) => ({ chargedTo, toolId: toolOf(1), amount: usdc(n % 50) })),
    ...fields,
  });
  const draws: Deed[] = [
    {
      name: "sweep",
      run: ({ ledger, nowMs }) => ledger.sweepSessions({ ...POLICY, maxAgeMs: MAX_AGE_MS }, HOLD_TTL_MS, nowMs(), 3),
    },
    { name: "sweep turns", run: ({ ledger, nowMs }) => ledger.sweepTurnHolds(HOLD_TTL_MS, nowMs(), 3) },
    {
      name: "plan",
      run: ({ ledger, lease, nowMs }) => ledger.planBatch(lease, { ...plan, net }, nowMs()),
    },
    {
      name: "submit",
      run: ofState(["planned"], async ({ ledger, lease, nowMs }, id) => {
        await ledger.assignNonce(lease, id, 0, 1n);
        const bytes = { txHash: hashOf(`${n}`), raw: "0x", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } as const;
        await ledger.saveBroadcast(lease, id, { ...bytes, signedAtMs: nowMs() });
      }),
    },
    {
      name: "include",
      run: ofState(["submitted", "reverted", "included"], ({ ledger, lease }, id) =>
        ledger.recordInclusion(lease, id, inclusionAt(block), "success", outcome),
      ),
    },
    {
      name: "revert",
      run: ofState(["submitted"], ({ ledger, lease, reached }, id) => {
        reached("a batch reverts");
        return ledger.recordInclusion(lease, id, inclusionAt(block), "reverted", null);
      }),
    },
    {
      name: "finalize",
      run: ofState(["included"], ({ ledger, lease, nowMs }, id) => ledger.finalize(lease, id, outcome, retry, nowMs())),
    },
    {
      name: "unplan",
      run: ofState(["planned"], ({ ledger, lease, nowMs }, id) =>
        ledger.unplanBatch(lease, id, [payer], 5_000, nowMs()),
      ),
    },
    {
      name: "abandon",
      run: ofState(["submitted", "reverted"], ({ ledger, lease, nowMs }, id) => ledger.abandon(lease, id, nowMs())),
    },
    { name: "lose", run: ofState(["included"], ({ ledger, lease }, id) => ledger.recordLoss(lease, id)) },
    { name: "collect", run: ({ ledger, nowMs }) => ledger.collect(PAYERS, nowMs()) },
    { name: "flush payer", run: ({ ledger, nowMs }) => ledger.flushPayer(payer, nowMs()) },
    { name: "clear", run: ({ ledger }) => ledger.clearDebt(payer) },
    { name: "forget", run: ({ ledger, nowMs }) => ledger.forgetStats(nowMs(), 2) },
    {
      name: "adopt",
      run: ({ ledger, lease, nowMs }) =>
        ledger.adoptBatch(found(lease.operator, { batchId: hashOf(`adopted ${n}`), otherRows: false }), nowMs()),
    },
    // A thief has settled a root that is on its way with other rows, and all others that are.
    {
      name: "adopt forged",
      run: async ({ ledger, lease, nowMs, reached }) => {
        const open = (await ledger.listBatches(MAX_OPEN, 0)).filter(({ state }) => ON_THEIR_WAY.includes(state));
        const [first] = open;
        if (first === undefined) return;
        const lost = open.map(({ batchId }) => batchId);
        const adoption = await ledger.adoptBatch(
          found(lease.operator, { batchId: first.batchId, otherRows: true, lost }),
          nowMs(),
        );
        if (adoption.kind === "adopted") reached("a root that was on its way is taken in with other rows");
      },
    },
    // The chain has it all the same.
    {
      name: "adopt abandoned",
      run: async ({ ledger, lease, nowMs, reached }) => {
        const given = (await ledger.listBatches(MAX_OPEN, 0)).find(({ state }) => state === "abandoned");
        if (given === undefined) return;
        const adoption = await ledger.adoptBatch(
          found(lease.operator, { batchId: given.batchId, otherRows: refuses }),
          nowMs(),
        );
        if (adoption.kind === "adopted") reached("a batch that was given up is taken in");
      },
    },
    // A person's command, whoever's batch it is.
    {
      name: "reopen",
      run: async ({ ledger, nowMs, reached }) => {
        const final = await ledger.listFinalSince(0n);
        const vanished = final[n % Math.max(1, final.length)];
        if (vanished === undefined) return;
        const { kind } = await ledger.reopen(vanished.id, nowMs());
        if (kind === "reopened") reached("a final batch is reopened");
        if (kind === "taken_back") reached("a final batch that cannot come back is given up");
      },
    },
    {
      name: "archive",
      run: async ({ ledger, nowMs, reached }) => {
        const policy = { ...DEFAULT_POLICY, archive: { afterMs: ARCHIVE_AFTER_MS, limits: ARCHIVE_LIMITS } };
        const context = { ledger, clock: { nowMs }, policy, reached: () => {} };
        const { charges } = await archive(context, { breathe: async () => {}, maxFiles: MAX_FILES });
        if (charges > 0) reached("what is final is archived");
      },
    },
    // Whatever is in them may be delivered, reopened or archived again by the other daemon meanwhile.
    {
      name: "restore",
      run: async ({ ledger, reached }) => {
        const archives = await ledger.listArchives(0, MAX_OPEN);
        const chosen = archives[n % Math.max(1, archives.length)];
        if (chosen !== undefined && (await restore({ ledger }, chosen.number)) > 0)
          reached("an archive is brought back");
      },
    },
    // What was due when it was looked at, and may be in a batch of the other's by now.
    {
      name: "postpone",
      run: async ({ ledger, lease, nowMs, reached }) => {
        let due: readonly DueCharge[] = [];
        const look: Net = (charges) => {
          due = charges;
          return { batch: null, unpayable: [] };
        };
        await ledger.planBatch(lease, { ...plan, net: look }, nowMs());
        if (due.length === 0) return;
        await ledger.postponeCharges(lease, due.slice(0, (n % due.length) + 1), nowMs() + 2_500);
        reached("charges are postponed");
      },
    },
  ];
  // One transaction after the other, between which the other daemon has its turns: of what is drawn one by one little gets so far.
  const inTurn = (...names: string[]): Deed => ({
    name: names.join(", "),
    run: async (daemon) => {
      for (const name of names) await draws.find((deed) => deed.name === name)?.run(daemon);
    },
  });
  const histories = [
    inTurn("plan", "submit", "include", "finalize"),
    inTurn("plan", "submit", "include", "finalize", "reopen"),
    inTurn("plan", "submit", "abandon", "adopt abandoned"),
    inTurn("plan", "submit", "adopt forged"),
    inTurn("plan", "submit", "revert", "include", "finalize"),
    inTurn("plan", "submit", "include", "finalize", "archive"),
    inTurn("archive", "restore"),
  ];
  const aboutKeys = rng.pick(drawKeys(rng));
  return rng.happens(0.15) ? aboutKeys : rng.pick([...draws.slice(0, 5), ...histories, ...histories, ...draws]);
}

// Small, so that one archive is several files of several blocks, between which the other daemon has its turns.
const ARCHIVE_AFTER_MS = 2_000;
const ARCHIVE_LIMITS = { chargesPerFile: 4, chargesPerBlock: 2 };
const MAX_FILES = 3;

const ON_THEIR_WAY: readonly string[] = ["planned", "submitted", "included", "reverted"];

const MAX_OPEN = 1_000;

// What its engine would do to the first batch of its key in one of these states. Without one there is nothing to do.
function ofState(kinds: readonly string[], deed: (daemon: Daemon, id: Hex) => Promise<unknown>): Deed["run"] {
  return async (daemon) => {
    const open = await daemon.ledger.listOpenSubmissions(daemon.lease.operator, MAX_OPEN);
    const found = open.find(({ kind, state }) => kind === "settle" && kinds.includes(state));
    if (found !== undefined) await deed(daemon, found.id);
  };
}
