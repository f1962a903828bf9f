import { type Address, erc20Abi, formatEther, formatUnits, type PublicClient } from "viem";
import type { ContextSource } from "../source.ts";

export type Token = { address: Address; symbol: string; decimals: number };

export type WalletOptions = { client: PublicClient; chainId: number; tokens: () => Promise<readonly Token[]> };

// What an address holds on the marketplace's own chain. Amounts are texts: they do not fit into JSON's numbers.
export function createWalletSource({ client, chainId, tokens: listTokens }: WalletOptions): ContextSource {
  return async (address) => {
    const tokens = await listTokens();
    // All as of one block, so that they belong together.
    const blockNumber = await client.getBlockNumber();
    const [native, ...amounts] = await Promise.all([
      client.getBalance({ address, blockNumber }),
      ...tokens.map((token) =>
        client.readContract({
          address: token.address,
          abi: erc20Abi,
          functionName: "balanceOf",
          args: [address],
          blockNumber,
        }),
      ),
    ]);
    const held = tokens.map((token, i) => ({ ...token, balance: formatUnits(amounts[i] ?? 0n, token.decimals) }));
    // Tools that were written for the older form look for `balances`.
    return { address, chainId, nativeBalance: formatEther(native), tokens: held, balances: held };
  };
}
