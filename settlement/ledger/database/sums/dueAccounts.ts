import type { Address } from "viem";
import { isChargedTo } from "../beginnings.ts";
import { askingWithin, type Insertion, insertionsOf, sendAll } from "../lists.ts";
import type { Param, Sql } from "../sql.ts";

type Change = { charges: number; amount: bigint; dueAtMs: number | null; left: boolean };

export type DueAccounts = {
  // A charge of the account waits for a batch from now on, or several that come to the amount together.
  add(account: Address, added: { amount: bigint; dueAtMs: number; charges?: number }): void;
  // It no longer does; or so many no longer do.
  remove(account: Address, charge: { amount: bigint }, charges?: number): void;
  // One that waits is due at another time.
  move(account: Address): void;
  write(sql: Sql): void;
};

const CHANGES: Insertion = {
  into: "due_accounts",
  columns: { account: "TEXT", charges: "BIGINT", amount: "BIGINT", due_at: "BIGINT" },
  tail: `ON CONFLICT (account) DO UPDATE SET
    charges = due_accounts.charges + excluded.charges,
    amount = due_accounts.amount + excluded.amount,
    due_at = CASE WHEN excluded.due_at < due_accounts.due_at THEN excluded.due_at
      ELSE COALESCE(due_accounts.due_at, excluded.due_at) END`,
};

// What a transaction changes of the accounts with charges that wait. Gathered and written before the commit, like what it
// changes of payers: once per account and in the order of addresses.
export function createDueAccounts(): DueAccounts {
  const changes = new Map<Address, Change>();
  const changeOf = (account: Address): Change => {
    const known = changes.get(account);
    if (known !== undefined) return known;
    const change: Change = { charges: 0, amount: 0n, dueAtMs: null, left: false };
    changes.set(account, change);
    return change;
  };
  return {
    add(account, { amount, dueAtMs, charges = 1 }) {
      const change = changeOf(account);
      change.charges += charges;
      change.amount += amount;
      change.dueAtMs = Math.min(change.dueAtMs ?? dueAtMs, dueAtMs);
    },
    remove(account, { amount }, charges = 1) {
      const change = changeOf(account);
      change.charges -= charges;
      change.amount -= amount;
      change.left = true;
    },
    move(account) {
      changeOf(account).left = true;
    },
    write(sql) {
      const rows = [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
      const params: Param[] = [];
      for (const [account, { charges, amount, dueAtMs }] of rows) params.push(account, charges, amount, dueAtMs);
      sendAll(sql, insertionsOf(sql, CHANGES, params));
      // The rows are locked by now, so that nobody adds a charge that this statement does not see.
      const shrunk = rows.filter(([, { left }]) => left).map(([account]) => account);
      const again = askingWithin(
        sql,
        "TEXT",
        shrunk,
        (list) =>
          `UPDATE due_accounts SET due_at =
             (SELECT MIN(c.due_at) FROM charges c WHERE c.state = 'accrued' AND ${isChargedTo("due_accounts.account", "c.")})
           WHERE account ${list}`,
      );
      sendAll(sql, again);
    },
  };
}
