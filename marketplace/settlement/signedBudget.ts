import { broughtIn, type SignedFields } from "../../settlement/daemon/http/brought.ts";
import * as field from "../../settlement/daemon/http/fields.ts";
import { budgetFields } from "../../settlement/views/budget.ts";

// What a buyer has signed, as it is sent on to the daemon, which judges it.
export type SignedBudget = { budget: ReturnType<typeof budgetFields>; signature: string };

// Fields beside those of the SDKs: whoever demands no consent leaves them out.
export const signedFields = { budget: field.budget.nullish(), signature: field.signature.nullish() };

export function signedIn(body: SignedFields): SignedBudget | null {
  const brought = broughtIn(body);
  return brought === null ? null : { budget: budgetFields(brought), signature: brought.signature };
}
