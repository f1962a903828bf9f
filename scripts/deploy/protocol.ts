import type { Signer } from "ethers";
import {
  type AccessManager,
  AccessManager__factory,
  type ContextRouter,
  ContextRouter__factory,
  type ToolStaking,
  ToolStaking__factory,
} from "../../typechain-types/index.ts";

// The roles of the AccessManager. Admin is its built-in role 0. Operators are not here: an operator is an account with a
// limit in the router.
export const ROLES = { admin: 0n, guardian: 1n, adjudicator: 2n } as const;

// How long everything that the admin does is public before it takes effect.
export const ADMIN_DELAY_SECONDS = 2 * 24 * 60 * 60;

export type Parties = {
  admin: string;
  treasury: string;
  insurance: string;
  guardian: string;
  adjudicator: string;
  operator: string;
  operatorLimit: bigint;
};

export type Protocol = { manager: AccessManager; staking: ToolStaking; router: ContextRouter };

// Deploys the contracts and hands every role to its party. The deployer administers the AccessManager only until the
// last step, which leaves it with nothing.
export async function deployProtocol(deployer: Signer, usdc: string, parties: Parties): Promise<Protocol> {
  const deployerAddress = await deployer.getAddress();
  const manager = await new AccessManager__factory(deployer).deploy(deployerAddress);
  const staking = await new ToolStaking__factory(deployer).deploy(manager, usdc, parties.insurance);
  const router = await new ContextRouter__factory(deployer).deploy(manager, staking, parties.treasury);
  await Promise.all([manager, staking, router].map((contract) => contract.waitForDeployment()));

  const selectorsOf = (contract: ContextRouter | ToolStaking, names: string[]) =>
    names.map((name) => contract.interface.getFunction(name as never)?.selector as string);

  const steps = [
    () =>
      manager.setTargetFunctionRole(
        router,
        selectorsOf(router, ["pause", "unpause", "suspendOperator"]),
        ROLES.guardian,
      ),
    () => manager.setTargetFunctionRole(staking, selectorsOf(staking, ["vetoSlash"]), ROLES.guardian),
    () =>
      manager.setTargetFunctionRole(
        staking,
        selectorsOf(staking, ["proposeSlash", "executeSlash", "dismissSlash"]),
        ROLES.adjudicator,
      ),
    () => manager.labelRole(ROLES.guardian, "guardian"),
    () => manager.labelRole(ROLES.adjudicator, "adjudicator"),
    () => router.setOperatorLimit(parties.operator, parties.operatorLimit),
    () => manager.grantRole(ROLES.guardian, parties.guardian, 0),
    () => manager.grantRole(ROLES.adjudicator, parties.adjudicator, 0),
    () => manager.grantRole(ROLES.admin, parties.admin, ADMIN_DELAY_SECONDS),
    () => manager.renounceRole(ROLES.admin, deployerAddress),
  ];
  for (const step of steps) await (await step()).wait();
  return { manager, staking, router };
}
