import { budgetDigest } from "../../../chain/router/budgetDigest.ts";
import { formatUsd } from "../../../domain/money.ts";
import type { KnownBudget, SignedBudget } from "../../../domain/payer/budget.ts";
import type { EngineContext } from "../../context.ts";

export type KeptBudget =
  | { kind: "kept"; budget: KnownBudget }
  // The payer has not signed it, or it takes back what was agreed to.
  | { kind: "refused"; code: "budget_forged" | "conflict"; reason: string };

// Takes in what a payer has signed, or finds that it is known. A signature is checked as the router will check it; a smart account
// may withdraw it afterwards, and then the row fails.
export async function keepBudget(
  { ledger, chain, clock }: Pick<EngineContext, "ledger" | "chain" | "clock">,
  signed: SignedBudget,
): Promise<KeptBudget> {
  const known = await ledger.findBudget(signed);
  if (known !== null && known.signature === signed.signature.toLowerCase() && known.maxSpend === signed.maxSpend) {
    return { kind: "kept", budget: known };
  }
  const { payer: signer, signature } = signed;
  if (!(await chain.isSigned({ signer, digest: budgetDigest(chain, signed), signature }))) {
    const reason = `the signature of budget ${signed.id} is not the payer's, for this chain and this router; sign it again`;
    return { kind: "refused", code: "budget_forged", reason };
  }
  const kept = await ledger.keepBudget(signed, clock.nowMs());
  if (kept.kind !== "narrower") return { kind: "kept", budget: kept.budget };
  return { kind: "refused", code: "conflict", reason: narrowerThan(kept.budget) };
}

function narrowerThan({ id, maxSpend, validUntil, tools }: KnownBudget): string {
  const until = new Date(Number(validUntil) * 1_000).toISOString();
  const scope = tools.length === 0 ? "all tools" : `the same ${tools.length} tools, or all`;
  return (
    `budget ${id} was signed before: to raise it, sign more than ${formatUsd(maxSpend)}, until ${until} or later and for ${scope}; ` +
    "for other terms, take another id"
  );
}
