import type { Chain } from "../../chain/chain.ts";
import { budgetDigest } from "../../chain/router/budgetDigest.ts";
import { isSignedByKey } from "../../chain/router/isSigned.ts";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { microUsdc } from "../../domain/money.ts";

// What the router lets a smart account use to judge its signature, and the call around it.
const JUDGE_GAS = 110_000n;

// What smart accounts may use beyond what they used when the batch was simulated: an account is asked for its signature when the
// batch is mined, and may be of another mind by then. A key costs the same every time.
export async function gasOfJudges(
  { chainId, router }: Pick<Chain, "chainId" | "router">,
  { kind, calldata }: Pick<Submission, "kind" | "calldata">,
): Promise<bigint> {
  if (kind !== "settle") return 0n;
  let gas = 0n;
  for (const { payer, budget } of decodeSettle(calldata).rows) {
    if (budget?.signed === undefined) continue;
    const { maxSpend, validUntil, signature } = budget.signed;
    const terms = { payer, id: budget.id, maxSpend: microUsdc(maxSpend), validUntil, tools: budget.tools ?? [] };
    if (!(await isSignedByKey(payer, budgetDigest({ chainId, router }, terms), signature))) gas += JUDGE_GAS;
  }
  return gas;
}
