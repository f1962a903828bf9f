import { id, type Signer, zeroPadValue } from "ethers";
import type { IFiatToken } from "../../typechain-types/index.ts";
import { deployUsdcProxy, setUpUsdc } from "../deploy/usdc.ts";

// Where Circle's proxy keeps its implementation and its admin.
const IMPLEMENTATION_SLOT = id("org.zeppelinos.proxy.implementation");
const ADMIN_SLOT = id("org.zeppelinos.proxy.admin");

// Puts the real USDC at a chosen address of an anvil node: the proxy is deployed wherever the nonce says and copied to
// the address, where the token is then set up by its ordinary transactions. `owner` holds every role of the token.
export async function placeUsdc(
  provider: { send(method: string, params: string[]): Promise<string> },
  owner: Signer,
  address: string,
): Promise<IFiatToken> {
  const proxy = await deployUsdcProxy(owner);
  await provider.send("anvil_setCode", [address, await provider.send("eth_getCode", [proxy, "latest"])]);
  const implementation = await provider.send("eth_getStorageAt", [proxy, IMPLEMENTATION_SLOT, "latest"]);
  await provider.send("anvil_setStorageAt", [address, IMPLEMENTATION_SLOT, implementation]);
  // A proxy's admin cannot use the token. Here it is the first proxy, which calls nobody, so every account can.
  await provider.send("anvil_setStorageAt", [address, ADMIN_SLOT, zeroPadValue(proxy, 32)]);
  return setUpUsdc(address, owner);
}
