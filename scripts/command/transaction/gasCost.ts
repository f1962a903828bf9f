import type { HardhatEthersProvider } from "@nomicfoundation/hardhat-ethers/types";
import { Contract, dataLength, formatEther } from "ethers";
import type { Call } from "./simulate.ts";

// Where an OP-stack chain such as Base says what it charges for publishing a transaction on Ethereum.
const GAS_PRICE_ORACLE = "0x420000000000000000000000000000000000000F";
const oracleAbi = ["function getL1FeeUpperBound(uint256 unsignedTransactionBytes) view returns (uint256)"];

// What of a transaction is neither call data nor signature: nonce, fees, gas, address.
const ENVELOPE_BYTES = 110;

// The most that the calls can cost, in wei.
export async function gasCost(
  provider: HardhatEthersProvider,
  calls: readonly Call[],
  gas: readonly bigint[],
): Promise<bigint> {
  const { maxFeePerGas, gasPrice } = await provider.getFeeData();
  const execution = gas.reduce((sum, amount) => sum + amount, 0n) * (maxFeePerGas ?? gasPrice ?? 0n);
  return execution + (await publicationCost(provider, calls));
}

async function publicationCost(provider: HardhatEthersProvider, calls: readonly Call[]): Promise<bigint> {
  if ((await provider.getCode(GAS_PRICE_ORACLE)) === "0x") return 0n;
  const oracle = new Contract(GAS_PRICE_ORACLE, oracleAbi, provider);
  const costs = await Promise.all(
    calls.map(({ data }) => oracle.getFunction("getL1FeeUpperBound").staticCall(dataLength(data) + ENVELOPE_BYTES)),
  );
  return costs.reduce((sum: bigint, cost: bigint) => sum + cost, 0n);
}

// Wei below a thousandth of a gwei say nothing to a reader.
export function formatEth(wei: bigint): string {
  const rounded = ((wei + 999_999n) / 1_000_000n) * 1_000_000n;
  return `${formatEther(rounded)} ETH`;
}
