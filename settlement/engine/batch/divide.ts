import type { Address } from "viem";
import type { DuePayer, DueRow, Part } from "../../ledger/ledger.ts";
import { MAX_RECEIPTS_PER_ROW } from "./net.ts";

// Who is in a batch: accounts with everything that is due of them, and parts of others.
export type Shares = { accounts: readonly Address[]; parts: readonly Part[] };

// Divides the room of a batch among accounts, longest waiting first.
//
// A payer costs a batch the same however many charges are netted into its row. So a batch takes everything that is due of as many
// accounts as fit, rather than a little of each. An account with more than half of a batch, or than a row may have, is divided: it
// takes as much, and what nobody else needs as far as its row may have it.
//
// A row draws on one budget, so that of an account with charges under several, `rows` says what its row can take: no more than that is
// room that others do not have.
export function divide(due: readonly DuePayer[], rows: ReadonlyMap<Address, DueRow>, maxCharges: number): Shares {
  const most = Math.max(1, Math.min(Math.floor(maxCharges / 2), MAX_RECEIPTS_PER_ROW));
  const accounts: Address[] = [];
  const parts: Part[] = [];
  let largest: Part | null = null;
  let left = maxCharges;
  for (const { chargedTo: account, charges } of due) {
    const row = rows.get(account) ?? null;
    const wanted = row?.charges ?? charges;
    const share = Math.min(wanted, most);
    if (share > left) continue;
    left -= share;
    if (row === null && share === wanted) {
      accounts.push(account);
      continue;
    }
    const part = { account, row, maxCharges: share };
    parts.push(part);
    if (share < wanted) largest ??= part;
  }
  const enlarged = Math.min((largest?.maxCharges ?? 0) + left, MAX_RECEIPTS_PER_ROW);
  return { accounts, parts: parts.map((part) => (part === largest ? { ...part, maxCharges: enlarged } : part)) };
}

// Who has a row in a batch that is on its way comes after those who have none: charges under many budgets take as many batches, and
// nobody else waits for the last of them. Otherwise the order stays.
export function inTurns<T extends { chargedTo: Address }>(due: readonly T[], underway: ReadonlySet<Address>): T[] {
  const isServed = ({ chargedTo }: T) => underway.has(chargedTo);
  return [...due.filter((item) => !isServed(item)), ...due.filter(isServed)];
}
