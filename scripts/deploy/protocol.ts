import type { Signer } from "ethers";
import {
  type AccessManager,
  AccessManager__factory,
  type ContextRouter,
  ContextRouter__factory,
  type ToolStaking,
  ToolStaking__factory,
} from "../../typechain-types/index.ts";
import { type Addresses, CONTRACT_KEYS, creationCodeOf, handoverCallOf, type Parties } from "./description.ts";

export { ADMIN_DELAY_SECONDS, type Parties, ROLES } from "./description.ts";

export type Protocol = { manager: AccessManager; staking: ToolStaking; router: ContextRouter };

// Deploys the contracts to wherever the deployer's nonce puts them and hands every role to its party. For tests and
// benchmarks; people use the deploy command, whose addresses are known beforehand.
export async function deployProtocol(deployer: Signer, usdc: string, parties: Parties): Promise<Protocol> {
  const terms = { deployer: await deployer.getAddress(), usdc, parties };
  const created: Partial<Addresses> = {};
  for (const key of CONTRACT_KEYS) {
    const transaction = await deployer.sendTransaction({ data: creationCodeOf(key, terms, created) });
    const receipt = await transaction.wait();
    if (!receipt?.contractAddress) throw new Error(`The ${key} was not created`);
    created[key] = receipt.contractAddress;
  }
  const addresses = created as Addresses;
  const handover = await deployer.sendTransaction({ to: addresses.manager, data: handoverCallOf(terms, addresses) });
  await handover.wait();
  return connectProtocol(addresses, deployer);
}

export function connectProtocol(addresses: Addresses, runner: Parameters<typeof ContextRouter__factory.connect>[1]) {
  return {
    manager: AccessManager__factory.connect(addresses.manager, runner),
    staking: ToolStaking__factory.connect(addresses.staking, runner),
    router: ContextRouter__factory.connect(addresses.router, runner),
  } satisfies Protocol;
}
