import { concat, Interface } from "ethers";
import { AccessManager__factory, ContextRouter__factory, ToolStaking__factory } from "../../typechain-types/index.ts";

// What a deployment consists of: three contracts with their arguments, and one handover that wires the roles and leaves
// the deployer with nothing. The deploy command, the check of a live deployment and the tests all read it from here.

// The roles of the AccessManager. Admin is its built-in role 0. Operators are not here: an operator is an account with a
// limit in the router.
export const ROLES = { admin: 0n, guardian: 1n, adjudicator: 2n } as const;

export type RoleName = keyof typeof ROLES;

// How long everything that the admin does is public before it takes effect: a day more than a stake needs to leave, so that
// a developer who disagrees can be out before, even if the admin's key was stolen to name a hostile adjudicator.
export const ADMIN_DELAY_SECONDS = 8 * 24 * 60 * 60;

export type Parties = {
  admin: string;
  treasury: string;
  insurance: string;
  guardian: string;
  adjudicator: string;
  operator: string;
  operatorLimit: bigint;
};

export type Terms = { deployer: string; usdc: string; parties: Parties };

export type ContractKey = "manager" | "staking" | "router";

export type Addresses = Record<ContractKey, string>;

// In the order in which they refer to each other: a contract's arguments name only those before it.
export const CONTRACT_KEYS: readonly ContractKey[] = ["manager", "staking", "router"];

export const CONTRACTS = {
  manager: {
    title: "AccessManager",
    source: "@openzeppelin/contracts/access/manager/AccessManager.sol:AccessManager",
    factory: AccessManager__factory,
    argumentsOf: ({ deployer }: Terms, _: Partial<Addresses>) => [deployer],
  },
  staking: {
    title: "ToolStaking",
    source: "contracts/ToolStaking.sol:ToolStaking",
    factory: ToolStaking__factory,
    argumentsOf: ({ usdc, parties }: Terms, { manager }: Partial<Addresses>) => [manager, usdc, parties.insurance],
  },
  router: {
    title: "ContextRouter",
    source: "contracts/ContextRouter.sol:ContextRouter",
    factory: ContextRouter__factory,
    argumentsOf: ({ parties }: Terms, { manager, staking }: Partial<Addresses>) => [manager, staking, parties.treasury],
  },
} as const;

// Which functions belong to a role other than the admin's, who has all the rest.
export const FUNCTION_ROLES: readonly { target: "router" | "staking"; role: RoleName; functions: readonly string[] }[] =
  [
    { target: "router", role: "guardian", functions: ["pause", "unpause", "suspendOperator"] },
    { target: "staking", role: "guardian", functions: ["vetoSlash"] },
    { target: "staking", role: "adjudicator", functions: ["proposeSlash", "executeSlash", "dismissSlash"] },
  ];

// The parameters that ToolStaking's constructor sets.
export const INITIAL_PARAMETERS = { minimumStake: 10_000_000n, stakeMultiplier: 100n, bountyBps: 1_000n } as const;

// The code that creates a contract, its arguments included.
export function creationCodeOf(key: ContractKey, terms: Terms, addresses: Partial<Addresses>): string {
  const { factory, argumentsOf } = CONTRACTS[key];
  const contract = new Interface(factory.abi);
  return concat([factory.bytecode, contract.encodeDeploy(argumentsOf(terms, addresses))]);
}

export function selectorOf(target: "router" | "staking", name: string): string {
  const selector = new Interface(CONTRACTS[target].factory.abi).getFunction(name)?.selector;
  if (!selector) throw new Error(`${CONTRACTS[target].title} has no function ${name}`);
  return selector;
}

// One call of the AccessManager that names the roles, gives them to their parties, admits the operator and takes the
// deployer's own role away. It happens as a whole or not at all, so a deployment is never left half wired.
export function handoverCallOf({ deployer, parties }: Terms, addresses: Addresses): string {
  const manager = AccessManager__factory.createInterface();
  const router = ContextRouter__factory.createInterface();
  const admitOperator = router.encodeFunctionData("setOperatorLimit", [parties.operator, parties.operatorLimit]);
  return manager.encodeFunctionData("multicall", [
    [
      ...FUNCTION_ROLES.map(({ target, role, functions }) =>
        manager.encodeFunctionData("setTargetFunctionRole", [
          addresses[target],
          functions.map((name) => selectorOf(target, name)),
          ROLES[role],
        ]),
      ),
      manager.encodeFunctionData("labelRole", [ROLES.guardian, "guardian"]),
      manager.encodeFunctionData("labelRole", [ROLES.adjudicator, "adjudicator"]),
      manager.encodeFunctionData("execute", [addresses.router, admitOperator]),
      manager.encodeFunctionData("grantRole", [ROLES.guardian, parties.guardian, 0]),
      manager.encodeFunctionData("grantRole", [ROLES.adjudicator, parties.adjudicator, 0]),
      manager.encodeFunctionData("grantRole", [ROLES.admin, parties.admin, ADMIN_DELAY_SECONDS]),
      manager.encodeFunctionData("renounceRole", [ROLES.admin, deployer]),
    ],
  ]);
}
