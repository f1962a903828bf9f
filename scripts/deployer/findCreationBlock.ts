import type { HardhatEthersProvider } from "@nomicfoundation/hardhat-ethers/types";

// The block in which a contract appeared. The search begins with the blocks since `recent`, where it usually lies and
// which every node still remembers; only a contract of an earlier run needs a node with older states.
export async function findCreationBlock(
  provider: HardhatEthersProvider,
  address: string,
  recent: number,
): Promise<number> {
  const exists = async (block: number) => (await provider.getCode(address, block)) !== "0x";
  let present = await provider.getBlockNumber();
  let absent = (await exists(recent)) ? -1 : recent;
  if (absent === -1) present = recent;
  // A binary search over block numbers, which have far fewer than 64 bits.
  for (let step = 0; step < 64 && present - absent > 1; step += 1) {
    const middle = Math.floor((absent + present) / 2);
    if (await exists(middle)) present = middle;
    else absent = middle;
  }
  return present;
}
