import { type JsonRpcProvider, parseEther } from "ethers";
import type { Account, Host } from "../world.ts";
import { mineAll, post, toHex, withImpersonation } from "./transact.ts";

const WEI = toHex(parseEther("100"));

// An anvil of one's own. It takes in what nobody has signed, because a thousand signatures take their time.
export function createNodeHost<A extends Account>(url: string, provider: JsonRpcProvider): Host<A> {
  return {
    provider,
    async giveEther(accounts) {
      await post(
        url,
        accounts.map(({ address }) => ["anvil_setBalance", [address, WEI]]),
      );
    },
    sendAll: (sendings) =>
      withImpersonation(url, () =>
        mineAll(
          url,
          sendings.map(({ from, transactions }) => ({ from: from.address, transactions })),
        ),
      ),
  };
}
