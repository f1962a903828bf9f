import { type Mutation, simulator, vitest } from "../mutation.ts";

const ENGINE = "settlement/engine";
const net = (named?: string) => vitest("settlement/engine/net.test.ts", named);
const faults = (group: "rpc" | "chain" | "token" | "process", named: string) =>
  vitest(`test/faults/${group}.test.ts`, named);
// Caught by most seeds, and by a few out of a hundred.
const SOME_SEEDS = simulator(40);
const MANY_SEEDS = simulator(400);

export const engineMutations: readonly Mutation[] = [
  {
    bug: "A pre-flight forgets what running calls have reserved",
    file: `${ENGINE}/preflight.ts`,
    find: "const committed = figures.pending + figures.held;",
    replace: "const committed = figures.pending;",
    caughtBy: vitest("settlement/engine/preflight.test.ts"),
  },
  {
    bug: "A payer with a debt may go on",
    file: `${ENGINE}/preflight.ts`,
    find: "if (figures.debt > 0n) {",
    replace: "if (figures.debt < 0n) {",
    caughtBy: vitest("settlement/engine/preflight.test.ts"),
  },
  {
    bug: "Netting keeps only the last of a payer's charges for one tool",
    file: `${ENGINE}/net.ts`,
    find: "row.lines.set(toolId, (row.lines.get(toolId) ?? 0n) + charge.amount);",
    replace: "row.lines.set(toolId, charge.amount);",
    caughtBy: net("adds up every charge once"),
  },
  {
    bug: "Netting takes more than an account's limits leave",
    file: `${ENGINE}/net.ts`,
    find: "if (total > payableOf(spendable)) {",
    replace: "if (charge.amount > payableOf(spendable)) {",
    caughtBy: net("stays within what an account can spend"),
  },
  {
    bug: "A token that was paused when it was asked uses up the payer's attempt",
    file: `${ENGINE}/net.ts`,
    find: "function payableOf({ balance, allowance, dailyCapLeft }: Spendable): bigint {",
    replace: "function payableOf({ amount: balance, allowance, dailyCapLeft }: Spendable): bigint {",
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "A receipt does not say how often its charge has failed, so that a second attempt has the root of the first",
    file: `${ENGINE}/receipt.ts`,
    find: "numberWord(charge.attempts),",
    replace: "numberWord(0),",
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "A send that is not answered is taken for failed, and its charges are sent again under another nonce",
    file: `${ENGINE}/rebroadcast.ts`,
    find: "    const outcome = await send(context, submission);\n",
    replace: `    const outcome = await send(context, submission);
    if (outcome.kind === "unknown") {
      await context.ledger.release(lease, submission.id, clock.nowMs());
      continue;
    }
`,
    caughtBy: SOME_SEEDS,
  },
  {
    bug: "Bytes are sent before they are saved",
    file: `${ENGINE}/submit.ts`,
    find: '  context.reached("after_sign");\n',
    replace: '  context.reached("after_sign");\n  await chain.send(raw);\n',
    caughtBy: SOME_SEEDS,
  },
  {
    bug: "A batch is looked for under its newest hash only",
    file: `${ENGINE}/confirm.ts`,
    find: "for (const { txHash } of submission.broadcasts) {",
    replace: "for (const { txHash } of submission.broadcasts.slice(-1)) {",
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "A batch whose receipt is missing is released without asking whether its root was settled",
    file: `${ENGINE}/confirm.ts`,
    find: `  if (submission.kind === "settle" && (await chain.settledAt(submission.id, finalized.number)) !== 0n) return;
`,
    replace: "",
    caughtBy: SOME_SEEDS,
  },
  {
    bug: "A batch that reverted because a peer had settled it is due again",
    file: `${ENGINE}/confirm.ts`,
    find: `    if (submission.kind === "settle" && (await chain.settledAt(submission.id, finalized.number)) !== 0n) {
      const settled`,
    replace: `    if (submission.kind === "fill") {
      const settled`,
    caughtBy: SOME_SEEDS,
  },
  {
    bug: "A nonce that is spent at the head counts as spent for good",
    file: `${ENGINE}/confirm.ts`,
    find: "(await chain.nonce(lease.operator, finalized.number)) <= submission.nonce",
    replace: '(await chain.nonce(lease.operator, "latest")) <= submission.nonce',
    caughtBy: SOME_SEEDS,
  },
  {
    bug: "A batch is final as soon as it is mined",
    file: `${ENGINE}/confirm.ts`,
    find: "  if (finalized.number < inclusion.blockNumber) return;\n",
    replace: "",
    caughtBy: SOME_SEEDS,
  },
  {
    bug: "A block that was left is taken for the block of the same number",
    file: `${ENGINE}/confirm.ts`,
    find: "if (canonical !== inclusion.blockHash) {",
    replace: "if (canonical === undefined) {",
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "A batch that the chain settled otherwise than asked is final all the same",
    file: `${ENGINE}/confirm.ts`,
    find: "const difference = reconcileBatch(submission, outcome);",
    replace: "const difference = reconcileBatch(submission, outcome) && null;",
    caughtBy: vitest("test/local/halts.test.ts", "which we never made"),
  },
  {
    bug: "A chain that undoes what it called final goes unnoticed",
    file: `${ENGINE}/createEngine.ts`,
    find: "if (hash !== null && hash !== lastFinalized.hash) {",
    replace: "if (hash === undefined) {",
    caughtBy: faults("chain", "undoes what it called final"),
  },
  {
    bug: "A gap in the nonces is never filled",
    file: `${ENGINE}/fillGap.ts`,
    find: "if (next >= Math.min(...nonces)) return null;",
    replace: "if (next >= 0) return null;",
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "What fills a gap is signed without gas",
    file: `${ENGINE}/submit.ts`,
    find: "  if (simulated) {",
    replace: "  if (submission.nonce === null) {",
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "A nonce that was left over when a peer settled its batch is never filled",
    file: `${ENGINE}/createEngine.ts`,
    find: 'if (gap !== null && gap.state.kind !== "released") await submit',
    replace: 'if (gap !== null && gap.state.kind === "planned") await submit',
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "An operator without ETH outbids itself up to the fee ceiling",
    file: `${ENGINE}/rebroadcast.ts`,
    find: 'if (outcome.kind === "insufficient_funds") {',
    replace: 'if (outcome.kind === "too_large") {',
    caughtBy: faults("token", "without gas money"),
  },
  {
    bug: "A replacement offers five percent more, which nodes refuse",
    file: `${ENGINE}/fees.ts`,
    find: "fee + (fee + 7n) / 8n",
    replace: "fee + (fee + 19n) / 20n",
    caughtBy: vitest("settlement/engine/fees.test.ts"),
  },
  {
    bug: "A replacement is offered above the ceiling",
    file: `${ENGINE}/fees.ts`,
    find: "return fees.maxFeePerGas <= ceiling ? fees : null;",
    replace: "return fees.maxFeePerGas > 0n || ceiling ? fees : null;",
    caughtBy: vitest("settlement/engine/fees.test.ts"),
  },
  {
    bug: "A batch is sent at fees above the ceiling",
    file: `${ENGINE}/submit.ts`,
    find: "if (fees.maxFeePerGas > policy.maxFeePerGasCeiling) {",
    replace: "if (fees.maxFeePerGas < 0n && policy) {",
    caughtBy: faults("rpc", "above the ceiling"),
  },
  {
    bug: "A transaction that is stuck is never replaced",
    file: `${ENGINE}/rebroadcast.ts`,
    find: "if (underpriced || stuck || tooLarge)",
    replace: "if (underpriced || tooLarge)",
    caughtBy: faults("rpc", "that blocks pass by"),
  },
  {
    bug: "While the chain stands still, the operator outbids itself",
    file: `${ENGINE}/rebroadcast.ts`,
    find: " && passed >= policy.stuckBlocks",
    replace: "",
    caughtBy: faults("chain", "while the chain stands still"),
  },
  {
    bug: "A transaction that the pool dropped is never sent again",
    file: `${ENGINE}/rebroadcast.ts`,
    find: "    if (ageMs < policy.rebroadcastMs) continue;\n",
    replace: "    if (ageMs >= 0) continue;\n",
    caughtBy: SOME_SEEDS,
  },
  {
    bug: "A batch that is too large is planned again as large",
    file: `${ENGINE}/createEngine.ts`,
    find: "maxRows = Math.max(1, Math.floor(maxRows / 2));",
    replace: "maxRows = Math.max(1, maxRows);",
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "A row that breaks its batch is planned again at once, and nobody else's charges get through",
    file: `${ENGINE}/submit.ts`,
    find: "await takeApart(context, lease, submission, [simulation.payer]);",
    replace: "await takeApart(context, lease, submission, []);",
    caughtBy: MANY_SEEDS,
  },
  {
    bug: "Credits below the threshold are pushed",
    file: `${ENGINE}/payout.ts`,
    find: "(credits[i] ?? 0n) >= policy.payoutThreshold",
    replace: "(credits[i] ?? 0n) > 0n",
    caughtBy: vitest("test/local/payout.test.ts"),
  },
];
