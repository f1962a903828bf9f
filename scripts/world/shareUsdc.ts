import { type IFiatToken, IFiatToken__factory } from "../../typechain-types/index.ts";
import { mined } from "./mined.ts";
import { placeUsdc } from "./placeUsdc.ts";
import { type Account, type Host, USDC_ADDRESS } from "./world.ts";

// Makes a local chain a place to rehearse a deployment: the real USDC, unless it is there already, and some of it for
// everybody.
export async function shareUsdc(
  provider: Host<Account>["provider"],
  circle: Account,
  accounts: readonly { readonly address: string }[],
  amount: bigint,
): Promise<IFiatToken> {
  const exists = (await provider.getCode(USDC_ADDRESS)) !== "0x";
  const usdc = exists
    ? IFiatToken__factory.connect(USDC_ADDRESS, circle)
    : await placeUsdc(provider, circle, USDC_ADDRESS);
  for (const { address } of accounts) await mined(usdc.mint(address, amount));
  return usdc;
}
