import type { Address } from "viem";
import type { SignedBudget } from "../../domain/payer/budget.ts";
import { broughtIn, type SignedFields } from "../http/brought.ts";
import { ApiError } from "../http/errors.ts";
import type { Services } from "../http/route.ts";

// Keeps the budget that a request brings, and names it; null if it brings none.
export async function keepBrought(services: Services, payer: Address, fields: SignedFields): Promise<bigint | null> {
  const brought = broughtIn(fields);
  return brought === null ? null : keep(services, { ...brought, payer });
}

export async function keep({ engine, helpUrl }: Services, signed: SignedBudget): Promise<bigint> {
  const kept = await engine.keepBudget(signed);
  if (kept.kind === "refused") throw new ApiError(kept.code, kept.reason, { helpUrl });
  return kept.budget.id;
}
