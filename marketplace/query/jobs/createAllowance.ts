import type { Address } from "viem";
import type { Clock } from "../../../settlement/clock.ts";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import { formatUsd, type MicroUsdc } from "../../../settlement/domain/money.ts";
import { amount } from "../../../settlement/ledger/database/decode.ts";
import type { Store } from "../../database/openStore.ts";
import { lesser } from "../turn/selectTools.ts";

// A miss, a failure, and an answer of a model that nobody counts cost their asker nothing, and the platform what the model took. Whoever
// asks on and on for nothing does so within an allowance a day.
export type Allowance = {
  // Throws if an account has used it up.
  check(account: Address): Promise<void>;
  used(account: Address, unpaid: MicroUsdc): Promise<void>;
  // What an answer that was paid for has cost above its bound: the platform's loss, and no part of anybody's allowance.
  lost(unpaid: MicroUsdc): void;
  forget(limit: number): Promise<number>;
};

const DAY_MS = 24 * 60 * 60 * 1_000;

export function createAllowance(options: {
  store: Store;
  clock: Clock;
  maxUnpaid: MicroUsdc;
  observe: (unpaid: MicroUsdc) => void;
}): Allowance {
  const { store, clock, maxUnpaid, observe } = options;
  const today = () => Math.floor(clock.nowMs() / DAY_MS);

  return {
    async check(account) {
      const day = today();
      const [row] = await store.read.all("SELECT amount FROM unpaid_model_costs WHERE account = $1 AND day = $2", [
        account,
        day,
      ]);
      const unpaid = row === undefined ? 0n : amount(row, "amount");
      if (unpaid < maxUnpaid) return;
      throw new ApiError(
        "rate_limited",
        `models have cost ${formatUsd(maxUnpaid)} USD today for questions of this account that had no answer, or whose model nobody counted, which ` +
          'is all that is given for nothing; ask again tomorrow, or with "rules" as agentModelId',
        { retryAfterMs: (day + 1) * DAY_MS - clock.nowMs() },
      );
    },
    async used(account, unpaid) {
      if (unpaid <= 0n) return;
      observe(unpaid);
      await store.shared((sql) =>
        sql.run(
          `INSERT INTO unpaid_model_costs (account, day, amount) VALUES ($1, $2, $3)
           ON CONFLICT (account, day) DO UPDATE SET amount = unpaid_model_costs.amount + excluded.amount`,
          // Whatever an endpoint counts: no more than all of it is used up, and many of these are still a number that a row can hold.
          [account, today(), lesser(unpaid, maxUnpaid)],
        ),
      );
    },
    lost(unpaid) {
      if (unpaid > 0n) observe(unpaid);
    },
    forget: (limit) =>
      store.alone((sql) =>
        sql.run(
          `DELETE FROM unpaid_model_costs WHERE (account, day) IN
             (SELECT account, day FROM unpaid_model_costs WHERE day < $1 LIMIT ${limit})`,
          [today()],
        ),
      ),
  };
}
