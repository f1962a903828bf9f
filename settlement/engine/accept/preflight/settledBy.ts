import type { EngineContext } from "../../context.ts";

// By which second what is agreed to now will be settled, at the latest: a budget that ends before that is no good for it.
export function settledBy(
  { nowMs }: EngineContext["clock"],
  { budgetMarginMs }: Pick<EngineContext["policy"], "budgetMarginMs">,
): bigint {
  return BigInt(Math.ceil((nowMs() + budgetMarginMs) / 1_000));
}
