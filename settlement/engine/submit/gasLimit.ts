import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { BatchRow, RowBudget } from "../../domain/batch/batch.ts";
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

// What else a batch takes in which every row is charged and has lines refused, whatever a simulation says. A few accounts alone can turn
// that around for all rows at once, and could for every batch: the owner of a tool, who asks the stake back and keeps it all the same, with
// a transaction each; smart accounts that are of another mind, with none. What a payer can do to its own row beyond that takes a
// transaction for each row, which costs as much gas as it wastes.
//   budget     it is drawn on
//   signature  it is checked, and what it says is kept
//   tool       it is paid, or why it is not is asked
const PAID = { batch: 100_000n, budget: 7_000n, signature: 29_000n, tool: 12_000n };

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
  if (kind !== "settle") {
    const gas = withMargin(simulated) + BATCH_GAS;
    return { least: gas, worst: gas };
  }
  const { rows, toolIds } = decodeSettle(calldata);
  const tools = BigInt(toolIds.length);
  const lines = rows.reduce((gas, row) => gas + linesGasOf(row), 0n);
  const paid = rows.reduce((gas, row) => gas + paidBudgetGasOf(row), lines + tools * PAID.tool + PAID.batch);
  const more = rows.reduce((gas, row) => gas + mostBudgetGasOf(row), lines + tools * TOOL_GAS + BATCH_GAS);
  const least = larger(withMargin(simulated) + BATCH_GAS, paid + judges);
  return { least, worst: larger(simulated + more + judges, least) };
}

const linesGasOf = ({ lines }: BatchRow) => ROW_GAS + BigInt(lines.length) * LINE_GAS;

function paidBudgetGasOf({ lines, budget }: BatchRow): bigint {
  if (budget === undefined) return 0n;
  const signature = budget.signed === undefined ? 0n : PAID.signature;
  return PAID.budget + signature + toolsGasOf(lines.length, budget);
}

function mostBudgetGasOf({ lines, budget }: BatchRow): bigint {
  return budget === undefined ? 0n : BUDGET_GAS + toolsGasOf(lines.length, budget);
}

function toolsGasOf(lines: number, { tools = [] }: RowBudget): bigint {
  const gas = BigInt(tools.length) * (HASHED_GAS + BigInt(lines) * COMPARED_GAS);
  return tools.length === 0 ? 0n : TOOLS_GAS + gas;
}

// Whether a transaction that was mined and reverted had too little gas. One that reverts for another reason does so early; what
// a call is left with when its own calls run out is a small part.
export function ranOutOfGas({ gasLimit, gasUsed }: { gasLimit: bigint; gasUsed: bigint }): boolean {
  return gasLimit > 0n && gasUsed * 10n >= gasLimit * 9n;
}
