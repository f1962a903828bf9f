import { MAX_BUDGET_ID } from "../../../settlement/domain/payer/budget.ts";
import { CommandError } from "../../command/CommandError.ts";

export function parseBudgetId(option: string, text: string): bigint {
  if (/^\d{1,20}$/.test(text) && BigInt(text) <= MAX_BUDGET_ID) return BigInt(text);
  throw new CommandError(`${option} is "${text}", which is no budget: write the number that budget sign has shown`);
}
