import type { KeptBudget } from "../../engine/accept/budgets/keepBudget.ts";
import { ApiError } from "../http/errors.ts";

// What a request brings of a budget is not what its payer signed, or takes back what was agreed to.
export function notKept({ code, reason }: Extract<KeptBudget, { kind: "refused" }>, helpUrl: string | null): ApiError {
  return new ApiError(code, reason, { helpUrl });
}
