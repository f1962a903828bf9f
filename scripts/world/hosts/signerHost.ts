import { mined } from "../mined.ts";
import type { Account, Host } from "../world.ts";

// A chain inside this process, as Hardhat has it: its accounts sign, and are rich.
export function createSignerHost<A extends Account>(provider: Host<A>["provider"]): Host<A> {
  return {
    provider,
    giveEther: async () => undefined,
    async sendAll(sendings) {
      for (const { from, transactions } of sendings) {
        for (const transaction of transactions) {
          const { to, data } = await transaction;
          await mined(from.sendTransaction({ to: to ?? null, data: data ?? null }));
        }
      }
    },
  };
}
