import type { Address } from "viem";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { findSigned } from "../accounts/keptBudget.ts";
import type { SignedBudget } from "../settlement/signedBudget.ts";
import type { Services } from "./route.ts";

// The public SDKs, and most agents, have no place for a signature. So where a wallet demands consent and a request brings
// none, the budget that the account has brought last is drawn on. It is asked for only then: whoever demands no consent is
// not bounded by what was signed once. Such a refusal comes before anything was called.
export async function drawing<T>(
  { store }: Pick<Services, "store">,
  account: Address,
  brought: SignedBudget | null,
  work: (signed: SignedBudget | null) => Promise<T>,
): Promise<T> {
  try {
    return await work(brought);
  } catch (error) {
    if (brought !== null || !(error instanceof ApiError) || error.code !== "consent_required") throw error;
    const kept = await findSigned(store.read, account);
    if (kept === null) throw error;
    return work(kept);
  }
}
