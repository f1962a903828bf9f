import { type Mutation, simulator, vitest } from "../mutation.ts";

const VERBS = "settlement/ledger/verbs";
const accruals = (named?: string) => vitest("settlement/ledger/accruals.test.ts", named);
const sessions = (named?: string) => vitest("settlement/ledger/sessions.test.ts", named);
const submissions = (named?: string) => vitest("settlement/ledger/submissions.test.ts", named);
const callers = (named?: string) => vitest("settlement/ledger/callers.test.ts", named);
const SOME_SEEDS = simulator(40);

export const ledgerMutations: readonly Mutation[] = [
  {
    bug: "A refused charge is missing from the running sums",
    file: `${VERBS}/finalize.ts`,
    find: "      tx.count(nowMs, { refused: amount(row) });\n",
    replace: "",
    caughtBy: vitest("settlement/ledger/figures.test.ts", "refused and absorbed"),
  },
  {
    bug: "A hold does not look at the session's budget",
    file: `${VERBS}/hold.ts`,
    find: " AND spent + held + $2 <= max_spend",
    replace: "",
    caughtBy: sessions("never overrun the budget"),
  },
  {
    bug: "A hold is not counted as spent",
    file: `${VERBS}/hold.ts`,
    find: "SET held = held + $2, method_price = $2",
    replace: "SET method_price = $2",
    caughtBy: sessions("a hold reserves"),
  },
  {
    bug: "A session whose time is over takes holds until it is swept",
    file: `${VERBS}/hold.ts`,
    find: "AND expires_at > $3",
    replace: "AND $3 > 0",
    caughtBy: sessions("an expired session"),
  },
  {
    bug: "A call that was voided can be captured",
    file: `${VERBS}/capture.ts`,
    find: "WHERE call_id = $1 AND state = 'held' RETURNING *",
    replace: "WHERE call_id = $1 AND state <> 'captured' RETURNING *",
    caughtBy: sessions("too old is voided"),
  },
  {
    bug: "A call that was captured can be voided",
    file: `${VERBS}/voidHold.ts`,
    find: "WHERE call_id = $1 AND state = 'held' RETURNING *",
    replace: "WHERE call_id = $1 AND state <> 'voided' RETURNING *",
    caughtBy: vitest("settlement/ledger/sessionModel.test.ts"),
  },
  {
    bug: "A call is answered before what it did is committed",
    file: "settlement/ledger/groupCommit.ts",
    find: "call.answer = mayHaveCommitted ? answerAgain(call.answer, answers[i]) : answers[i];",
    replace:
      "call.answer = mayHaveCommitted ? answerAgain(call.answer, answers[i]) : answers[i]; call.resolve(call.answer);",
    caughtBy: vitest("settlement/ledger/groupCommit.test.ts"),
  },
  {
    bug: "The ledger does not wait for the disk",
    file: "settlement/ledger/sqlite.ts",
    find: "PRAGMA synchronous = FULL;",
    replace: "PRAGMA synchronous = OFF;",
    caughtBy: vitest("settlement/ledger/durability.test.ts", "waits for the disk"),
  },
  {
    bug: "A turn that is delivered twice in one commit is recorded twice",
    file: `${VERBS}/recordTurns.ts`,
    find: "if (!unseen.delete(turn.id)) {",
    replace: "if (!unseen.has(turn.id)) {",
    caughtBy: accruals("of a hundred deliveries"),
  },
  {
    bug: "Another turn under a known id is taken for the same one",
    file: `${VERBS}/recordTurns.ts`,
    find: 'const same = known !== undefined && text(known, "digest") === digest;',
    replace: "const same = known !== undefined;",
    caughtBy: accruals(),
  },
  {
    bug: "A failed turn is charged for its tools",
    file: `${VERBS}/recordTurns.ts`,
    find: 'state: turn.outcome === "failed" ? "voided" : "accrued",',
    replace: 'state: "accrued",',
    caughtBy: accruals("a failed turn"),
  },
  {
    bug: "What is accrued is not added to what a payer has pending",
    file: `${VERBS}/insertCharges.ts`,
    find: 'if (state === "accrued") tx.change(payer, { pending: amount });',
    replace: "",
    caughtBy: accruals(),
  },
  {
    bug: "A fault of the network uses up an attempt",
    file: `${VERBS}/release.ts`,
    find: "SET state = 'accrued', root = NULL, due_at = $2",
    replace: "SET state = 'accrued', root = NULL, attempts = attempts + 1, due_at = $2",
    caughtBy: submissions("use up no attempt"),
  },
  {
    bug: "The platform pays for a payer after the first failure",
    file: `${VERBS}/failCharges.ts`,
    find: "failures < retry.maxAttempts",
    replace: "failures < 1",
    caughtBy: submissions("after the fifth failure"),
  },
  {
    bug: "What the platform paid for a payer is nobody's debt",
    file: `${VERBS}/failCharges.ts`,
    find: "tx.change(payer, { pending: -amount, debt: microUsdc(amount) });",
    replace: "tx.change(payer, { pending: -amount });",
    caughtBy: submissions("after the fifth failure"),
  },
  {
    bug: "A row that failed on chain is settled in the ledger",
    file: `${VERBS}/finalize.ts`,
    find: "for (const { chargedTo, reason } of outcome.failed) {",
    replace: "for (const { chargedTo, reason } of outcome.failed.slice(1)) {",
    caughtBy: submissions("after the fifth failure"),
  },
  {
    bug: "A line that was refused on chain is settled in the ledger",
    file: `${VERBS}/finalize.ts`,
    find: "for (const { chargedTo, toolId } of outcome.refused) {",
    replace: "for (const { chargedTo, toolId } of outcome.refused.slice(1)) {",
    caughtBy: submissions("a refused line"),
  },
  {
    bug: "A revert is recorded as included",
    file: `${VERBS}/recordInclusion.ts`,
    find: 'status === "success" ? "included" : "reverted"',
    replace: '"included"',
    caughtBy: SOME_SEEDS,
  },
  {
    bug: "A reorganisation leaves what the lost block had taken counted as taken",
    file: `${VERBS}/recordLoss.ts`,
    find: "  await forgetOutcome(tx, id);\n",
    replace: "",
    caughtBy: submissions("a loss takes it back"),
  },
  {
    bug: "A process that lost its lease and found its name again writes with the old token",
    file: `${VERBS}/operators.ts`,
    find: 'count(row, "token") === token && text(row, "holder") === holder',
    replace: 'text(row, "holder") === holder',
    caughtBy: submissions("of its own name"),
  },
  {
    bug: "A lease is taken over before it has run out",
    file: `${VERBS}/operators.ts`,
    find: "WHERE operators.holder = excluded.holder OR operators.until_at <= $4",
    replace: "WHERE operators.holder = excluded.holder OR $4 > 0",
    caughtBy: submissions("a lease is renewed"),
  },
  {
    bug: "A nonce is given twice while the first is on its way",
    file: `${VERBS}/assignNonce.ts`,
    find: "SET next_nonce = CASE WHEN next_nonce < $2 THEN $2 ELSE next_nonce END + 1",
    replace: "SET next_nonce = $2 + 1",
    caughtBy: submissions("nonces follow each other"),
  },
  {
    bug: "A submission that has a nonce gets another one after a crash",
    file: `${VERBS}/assignNonce.ts`,
    find: "submission.nonce ?? (await takeNonce(tx, lease, chainNonce))",
    replace: "await takeNonce(tx, lease, chainNonce)",
    caughtBy: submissions("nonces follow each other"),
  },
  {
    bug: "A batch whose bytes may be on their way is taken apart",
    file: `${VERBS}/unplanBatch.ts`,
    find: 'if (kind !== "settle" || state.kind !== "planned") {',
    replace: 'if (kind !== "settle") {',
    caughtBy: submissions("cannot be taken apart"),
  },
  {
    bug: "A key is taken for another request than it was used for",
    file: `${VERBS}/answers.ts`,
    find: 'known === undefined || text(known, "digest") !== digest',
    replace: "known === undefined",
    caughtBy: callers("is a conflict"),
  },
  {
    bug: "A repeated request replaces the answer to the first",
    file: `${VERBS}/answers.ts`,
    find: " AND key = $2 AND status IS NULL",
    replace: " AND key = $2",
    caughtBy: callers("the first answer stays"),
  },
];
