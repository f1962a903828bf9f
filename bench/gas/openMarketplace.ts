import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { ZeroHash } from "ethers";
import { network } from "hardhat";
import { buildWorld } from "../../scripts/world/buildWorld.ts";
import { createSignerHost } from "../../scripts/world/hosts/signerHost.ts";
import { PARTIES, type Party } from "../../scripts/world/parties.ts";
import type { World } from "../../scripts/world/world.ts";
import { TOOLS } from "./workload.ts";

// A world inside this process. Accounts come from Hardhat's fixed mnemonic, so that addresses, and with them the price of
// calldata, are the same in every run.
export type Marketplace = World<HardhatEthersSigner> & {
  operator: HardhatEthersSigner;
  toolIds: string[];
  chainId: bigint;
  blockGasLimit: bigint;
  close: () => Promise<void>;
};

// What a payer holds and what it approves: far above what any measurement takes, and not infinite, so that every
// transfer pays for writing both down.
export const FUNDS = 1_000_000_000n;

export async function openMarketplace(payerCount: number, toolCount = TOOLS): Promise<Marketplace> {
  // The parties come first, Circle last.
  const count = PARTIES.length + toolCount + payerCount + 1;
  const { ethers, close } = await network.create({ override: { accounts: { count } } });
  const signers = await ethers.getSigners();
  const parties = Object.fromEntries(PARTIES.map((party, i) => [party, signers[i]])) as Record<
    Party,
    HardhatEthersSigner
  >;
  const developers = signers.slice(PARTIES.length, PARTIES.length + toolCount);
  const payers = signers.slice(PARTIES.length + toolCount, -1);
  const { operator } = parties;
  const world = await buildWorld(createSignerHost<HardhatEthersSigner>(ethers.provider), {
    parties,
    circle: signers.at(-1) as HardhatEthersSigner,
    operators: [operator],
    operatorLimit: 1_000_000_000_000n,
    tools: developers.map((developer) => ({ developer, salt: ZeroHash, price: 100_000n })),
    payers: payers.map((account) => ({ account, balance: FUNDS, allowance: FUNDS })),
  });
  const toolIds = world.tools.map(({ toolId }) => toolId);
  const { chainId } = await ethers.provider.getNetwork();
  const block = await ethers.provider.getBlock("latest");
  if (block === null) throw new Error("the chain has no block");
  return { ...world, operator, toolIds, chainId, blockGasLimit: block.gasLimit, close };
}
