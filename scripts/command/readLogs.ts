import type { HardhatEthersProvider } from "@nomicfoundation/hardhat-ethers/types";
import type { Log, TopicFilter } from "ethers";

// Below this many blocks, a refusal has another reason than the range.
const SMALLEST_RANGE = 1_000;

// All logs of a contract that match. Nodes limit how many blocks they search at once, each in its own way, so the whole
// range is asked for first and halved as often as the node refuses.
export async function readLogs(
  provider: HardhatEthersProvider,
  address: string,
  topics: TopicFilter,
  fromBlock: number,
  toBlock?: number,
): Promise<Log[]> {
  const last = toBlock ?? (await provider.getBlockNumber());
  try {
    return await provider.getLogs({ address, topics, fromBlock, toBlock: last });
  } catch (error) {
    if (last - fromBlock < SMALLEST_RANGE) throw error;
    const middle = Math.floor((fromBlock + last) / 2);
    const earlier = await readLogs(provider, address, topics, fromBlock, middle);
    return [...earlier, ...(await readLogs(provider, address, topics, middle + 1, last))];
  }
}
