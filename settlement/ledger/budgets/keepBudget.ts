import {
  type KnownBudget,
  MAX_BUDGET_ID,
  MAX_BUDGET_TOOLS,
  MAX_VALID_UNTIL,
  type SignedBudget,
  widens,
} from "../../domain/payer/budget.ts";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { invalid, validAddress, validAmount, validBytes, validTime, validToolId } from "../validate.ts";
import { budgetFrom } from "./decode.ts";
import { budgetOf } from "./findBudget.ts";

export type KeepOutcome =
  // The newest of its id, or one that is as good or better is known already.
  | { kind: "kept" | "duplicate"; budget: KnownBudget }
  // It would take something back that was agreed to: `budget` stays.
  | { kind: "narrower"; budget: KnownBudget };

// Two bytes count its length in a row.
const MAX_SIGNATURE_DIGITS = 2 + 2 * 65_535;

// Keeps what a payer has signed; that it did is for the caller to know. Of one id the highest limit counts, so that signatures
// which overtake each other on their way here do no harm. One that is as high with other terms could not be brought to the chain
// beside the other one, and one that ends earlier or is for fewer tools would leave delivered work unpaid: both are refused.
export function keepBudget(signed: SignedBudget, nowMs: number) {
  const budget = validBudget(signed);
  validTime("now", nowMs);
  const touches = { lock: "payers", name: `${budget.payer} ${budget.id}`, payers: [budget.payer] } as const;
  return touching(touches, async (tx: Tx): Promise<KeepOutcome> => {
    const known = await budgetOf(tx, budget);
    if (known !== null) {
      if (budget.maxSpend < known.maxSpend || isSame(budget, known)) return { kind: "duplicate", budget: known };
      if (!widens(budget, known)) return { kind: "narrower", budget: known };
    }
    const { payer, id, maxSpend, validUntil, tools, signature } = budget;
    const [row] = await tx.all(
      `INSERT INTO budgets (payer, id, max_spend, valid_until, tools, signature, signed_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (payer, id) DO UPDATE SET max_spend = excluded.max_spend, valid_until = excluded.valid_until,
         tools = excluded.tools, signature = excluded.signature, signed_at = excluded.signed_at
       RETURNING *`,
      [payer, id.toString(), maxSpend, validUntil, tools.join(" "), signature, nowMs],
    );
    return { kind: "kept", budget: budgetFrom(row ?? {}) };
  });
}

// What a smart account takes for its signature may differ; what was agreed to is the same.
function isSame(a: SignedBudget, b: SignedBudget): boolean {
  return a.maxSpend === b.maxSpend && a.validUntil === b.validUntil && a.tools.join() === b.tools.join();
}

function validBudget({ payer, id, maxSpend, validUntil, tools, signature }: SignedBudget): SignedBudget {
  if (id < 0n || id > MAX_BUDGET_ID) invalid(`the budget's id is ${id}; it must be from 0 to ${MAX_BUDGET_ID}`);
  if (validUntil < 0n || validUntil > MAX_VALID_UNTIL)
    invalid(`the budget is valid until second ${validUntil}; the last one that it can name is ${MAX_VALID_UNTIL}`);
  if (tools.length > MAX_BUDGET_TOOLS)
    invalid(`the budget names ${tools.length} tools; the most is ${MAX_BUDGET_TOOLS}`);
  if (signature.length > MAX_SIGNATURE_DIGITS) invalid("the budget's signature is longer than a row has room for");
  return {
    payer: validAddress("the payer", payer),
    id,
    maxSpend: validAmount("the budget", maxSpend),
    validUntil,
    tools: tools.map(validToolId),
    signature: validBytes("the signature", signature),
  };
}
