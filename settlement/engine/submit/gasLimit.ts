import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { BatchRow } from "../../domain/batch/batch.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { larger } from "../../domain/money.ts";

// What can cost more between simulation and inclusion, and by how much at the most, as measured on the contracts
// (gasLimit.test.ts shows that it is enough). A payer can make a row fail in the simulation before anything of it is looked at, by a daily
// cap or by demanding consent, and take that back:
//   row     its payer drains the wallet or sets a daily cap, or it did not fail after all; some of its lines are refused, which is an
//           event
//   budget  its signature is checked and kept
//   tools   the hash of those that it is for is kept, too
//   tool    it is among what is hashed, and each line is looked for among them
//   line    it is refused and reported instead of paid
//   tool    it is paid instead of refused, for the first time and to a payee who has no credit yet
const ROW_GAS = 25_000n;
const BUDGET_GAS = 40_000n;
const TOOLS_GAS = 30_000n;
const HASHED_GAS = 300n;
const COMPARED_GAS = 150n;
const LINE_GAS = 1_000n;
const TOOL_GAS = 45_000n;
const BATCH_GAS = 50_000n;

// A fifth more is for a token whose code changes, and for transactions that are no batches.
const withMargin = (gas: bigint) => gas + gas / 5n;

export type GasLimit = {
  // What it needs at the least; if a transaction has not that much, it must be smaller.
  least: bigint;
  // What it can need whatever others do meanwhile.
  worst: bigint;
};

// What is not used is not paid for.
export function gasLimitOf(
  { kind, calldata }: Pick<Submission, "kind" | "calldata">,
  simulated: bigint,
  // What smart accounts may use beyond that.
  judges = 0n,
): GasLimit {
  const least = withMargin(simulated) + BATCH_GAS;
  if (kind !== "settle") return { least, worst: least };
  const { rows, toolIds } = decodeSettle(calldata);
  const more = rows.reduce((sum, row) => sum + mostMoreOf(row), BigInt(toolIds.length) * TOOL_GAS);
  const worst = simulated + more + judges + BATCH_GAS;
  return { least, worst: larger(worst, least) };
}

function mostMoreOf({ lines, budget }: BatchRow): bigint {
  const gas = ROW_GAS + BigInt(lines.length) * LINE_GAS + (budget === undefined ? 0n : BUDGET_GAS);
  const tools = BigInt(budget?.tools?.length ?? 0);
  return tools === 0n ? gas : gas + TOOLS_GAS + tools * (HASHED_GAS + BigInt(lines.length) * COMPARED_GAS);
}

// Whether a transaction that was mined and reverted had too little gas. One that reverts for another reason does so early; what
// a call is left with when its own calls run out is a small part.
export function ranOutOfGas({ gasLimit, gasUsed }: { gasLimit: bigint; gasUsed: bigint }): boolean {
  return gasLimit > 0n && gasUsed * 10n >= gasLimit * 9n;
}
