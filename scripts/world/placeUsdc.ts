import { dataSlice, id, type Provider, type Signer, zeroPadValue } from "ethers";
import type { IFiatToken } from "../../typechain-types/index.ts";
import { deployUsdcProxy, setUpUsdc } from "./usdc.ts";

// Where Circle's proxy keeps its implementation and its admin.
const IMPLEMENTATION_SLOT = id("org.zeppelinos.proxy.implementation");
const ADMIN_SLOT = id("org.zeppelinos.proxy.admin");

// Puts the real USDC at a chosen address of a local chain: the proxy is deployed wherever the nonce says and copied to
// the address, where the token is then set up by its ordinary transactions. `owner` holds every role of the token.
export async function placeUsdc(
  provider: { send(method: string, params: unknown[]): Promise<unknown> },
  owner: Signer,
  address: string,
): Promise<IFiatToken> {
  const proxy = await deployUsdcProxy(owner);
  // Anvil knows Hardhat's names for these.
  await provider.send("hardhat_setCode", [address, await provider.send("eth_getCode", [proxy, "latest"])]);
  const implementation = await provider.send("eth_getStorageAt", [proxy, IMPLEMENTATION_SLOT, "latest"]);
  await provider.send("hardhat_setStorageAt", [address, IMPLEMENTATION_SLOT, implementation]);
  // A proxy's admin cannot use the token. Here it is the first proxy, which calls nobody, so every account can.
  await provider.send("hardhat_setStorageAt", [address, ADMIN_SLOT, zeroPadValue(proxy, 32)]);
  return setUpUsdc(address, owner);
}

// Who may point the proxy to other code.
export const usdcAdminOf = async (provider: Provider, address: string): Promise<string> =>
  dataSlice(await provider.getStorage(address, ADMIN_SLOT), 12);
