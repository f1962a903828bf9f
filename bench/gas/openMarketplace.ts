import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import type { ContractTransactionResponse } from "ethers";
import { network } from "hardhat";
import { deployProtocol, type Protocol } from "../../scripts/deploy/protocol.ts";
import { deployUsdc } from "../../scripts/deploy/usdc.ts";
import type { IFiatToken } from "../../typechain-types/index.ts";
import { TOOLS } from "./workload.ts";

// A chain with the protocol on real USDC, listed tools and payers who have approved a finite amount. Accounts come from
// Hardhat's fixed mnemonic, so that addresses, and with them the price of calldata, are the same in every run.
export type Marketplace = Protocol & {
  usdc: IFiatToken;
  operator: HardhatEthersSigner;
  toolIds: string[];
  payers: HardhatEthersSigner[];
  chainId: bigint;
  blockGasLimit: bigint;
  close: () => Promise<void>;
};

// What a payer holds and what it approves: far above what any measurement takes, and not infinite, so that every
// transfer pays for writing both down.
export const FUNDS = 1_000_000_000n;

const STAKE = 10_000_000n;
const PARTIES = 7;

export async function openMarketplace(payerCount: number, toolCount = TOOLS): Promise<Marketplace> {
  const count = PARTIES + toolCount + payerCount;
  const { ethers, close } = await network.create({ override: { accounts: { count } } });
  const signers = await ethers.getSigners();
  const [deployer, operator, admin, treasury, insurance, guardian, adjudicator] = signers;
  if (!deployer || !operator || !admin || !treasury || !insurance || !guardian || !adjudicator) {
    throw new Error(`the chain has ${signers.length} accounts; the parties alone need ${PARTIES}`);
  }
  const developers = signers.slice(PARTIES, PARTIES + toolCount);
  const payers = signers.slice(PARTIES + toolCount);

  // The proxy's admin is barred from the token itself. Here the protocol's admin plays that part: it needs no USDC.
  const usdc = await deployUsdc(admin, deployer);
  const protocol = await deployProtocol(deployer, await usdc.getAddress(), {
    admin: admin.address,
    treasury: treasury.address,
    insurance: insurance.address,
    guardian: guardian.address,
    adjudicator: adjudicator.address,
    operator: operator.address,
    operatorLimit: 1_000_000_000_000n,
  });

  const toolIds: string[] = [];
  for (const developer of developers) {
    await mined(usdc.mint(developer, STAKE));
    await mined(usdc.connect(developer).approve(protocol.staking, STAKE));
    const salt = ethers.ZeroHash;
    await mined(protocol.staking.connect(developer).list(salt, 100_000n, developer, STAKE));
    toolIds.push(await protocol.staking.toolIdOf(developer, salt));
  }
  for (const payer of payers) {
    await mined(usdc.mint(payer, FUNDS));
    await mined(usdc.connect(payer).approve(protocol.router, FUNDS));
  }
  const { chainId } = await ethers.provider.getNetwork();
  const block = await ethers.provider.getBlock("latest");
  if (block === null) throw new Error("the chain has no block");
  return { ...protocol, usdc, operator, toolIds, payers, chainId, blockGasLimit: block.gasLimit, close };
}

// The receipt of a transaction that must succeed.
export async function mined(sent: ContractTransactionResponse | Promise<ContractTransactionResponse>) {
  const receipt = await (await sent).wait();
  if (receipt === null) throw new Error("a transaction was sent and has no receipt");
  return receipt;
}
