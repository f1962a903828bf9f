import { id, type Signer, toBeHex } from "ethers";
import type { IFiatToken } from "../../typechain-types/index.ts";
import { deployUsdcProxy, setUpUsdc } from "../deploy/usdc.ts";

// Where Circle's proxy keeps its implementation and its admin.
const PROXY_SLOTS = [id("org.zeppelinos.proxy.implementation"), id("org.zeppelinos.proxy.admin")];

// Puts the real USDC at a chosen address of an anvil node: the proxy is deployed wherever the nonce says, its code and
// its two own slots are copied to the address, and the token is set up there by its ordinary transactions.
export async function placeUsdc(
  provider: { send(method: string, params: string[]): Promise<string> },
  admin: Signer,
  owner: Signer,
  address: string,
): Promise<IFiatToken> {
  const proxy = await deployUsdcProxy(admin);
  const code = await provider.send("eth_getCode", [proxy, "latest"]);
  await provider.send("anvil_setCode", [address, code]);
  for (const slot of PROXY_SLOTS) {
    const value = await provider.send("eth_getStorageAt", [proxy, slot, "latest"]);
    await provider.send("anvil_setStorageAt", [address, slot, toBeHex(value, 32)]);
  }
  return setUpUsdc(address, owner);
}
