import { type JsonRpcProvider, parseEther } from "ethers";
import { until } from "../../waiting/until.ts";
import { toHex } from "./transact.ts";

const WEI = toHex(parseEther("1"));
const GAS = toHex(200_000);

// Sends as somebody whose key nobody has, a contract perhaps: a chain of one's own lets anybody act as anybody.
export async function sendAs(
  { provider }: { provider: JsonRpcProvider },
  from: string,
  { to, data }: { to?: unknown; data?: unknown },
): Promise<void> {
  await provider.send("anvil_setBalance", [from, WEI]);
  await provider.send("anvil_impersonateAccount", [from]);
  const hash = await provider.send("eth_sendTransaction", [{ from, to, data, gas: GAS }]);
  await provider.send("anvil_stopImpersonatingAccount", [from]);
  await until(`${hash} to be mined`, () => provider.getTransactionReceipt(hash));
}
