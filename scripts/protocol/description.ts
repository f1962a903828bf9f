import { concat, Interface } from "ethers";
import {
  ContextRouter__factory,
  ICredits__factory,
  JsonSchema__factory,
  OperatorBonds__factory,
  ProtocolAccess__factory,
  ReceiptCourt__factory,
  SchemaCourt__factory,
  ToolStaking__factory,
} from "../../typechain-types/index.ts";

// What a deployment consists of: seven contracts with their arguments, and one handover that wires the roles and leaves
// the deployer with nothing. The deploy command, the check of a live deployment and the tests all read it from here.

// The roles of ProtocolAccess. Operators are not here: an operator is an account with a limit in the router. Courts are
// contracts that take from stakes: the schema court is one, while the receipt court takes from bonds and needs no role.
export const ROLES = { admin: 0n, guardian: 1n, adjudicator: 2n, court: 3n } as const;

export type RoleName = keyof typeof ROLES;

// The roles that a party of the deployment holds.
export type PartyRole = Exclude<RoleName, "court">;

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

export type ContractKey = "manager" | "staking" | "bonds" | "router" | "receiptCourt" | "jsonSchema" | "schemaCourt";

export type Addresses = Record<ContractKey, string>;

// In the order in which they refer to each other: a contract's arguments name only those before it.
export const CONTRACT_KEYS: readonly ContractKey[] = [
  "manager",
  "staking",
  "bonds",
  "router",
  "receiptCourt",
  "jsonSchema",
  "schemaCourt",
];

export const CONTRACTS = {
  manager: {
    title: "ProtocolAccess",
    source: "contracts/ProtocolAccess.sol:ProtocolAccess",
    factory: ProtocolAccess__factory,
    argumentsOf: ({ deployer }: Terms, _: Partial<Addresses>) => [deployer],
  },
  staking: {
    title: "ToolStaking",
    source: "contracts/ToolStaking.sol:ToolStaking",
    factory: ToolStaking__factory,
    argumentsOf: ({ usdc, parties }: Terms, { manager }: Partial<Addresses>) => [manager, usdc, parties.insurance],
  },
  bonds: {
    title: "OperatorBonds",
    source: "contracts/court/OperatorBonds.sol:OperatorBonds",
    factory: OperatorBonds__factory,
    argumentsOf: ({ usdc }: Terms, { manager }: Partial<Addresses>) => [manager, usdc],
  },
  router: {
    title: "ContextRouter",
    source: "contracts/ContextRouter.sol:ContextRouter",
    factory: ContextRouter__factory,
    argumentsOf: ({ parties }: Terms, { manager, staking, bonds }: Partial<Addresses>) => [
      manager,
      staking,
      bonds,
      parties.treasury,
    ],
  },
  receiptCourt: {
    title: "ReceiptCourt",
    source: "contracts/court/ReceiptCourt.sol:ReceiptCourt",
    factory: ReceiptCourt__factory,
    argumentsOf: (_: Terms, { manager, router }: Partial<Addresses>) => [manager, router],
  },
  jsonSchema: {
    title: "JsonSchema",
    source: "contracts/court/JsonSchema.sol:JsonSchema",
    factory: JsonSchema__factory,
    argumentsOf: (_: Terms, __: Partial<Addresses>) => [],
  },
  schemaCourt: {
    title: "SchemaCourt",
    source: "contracts/court/SchemaCourt.sol:SchemaCourt",
    factory: SchemaCourt__factory,
    argumentsOf: (_: Terms, { staking, jsonSchema, receiptCourt }: Partial<Addresses>) => [
      staking,
      jsonSchema,
      receiptCourt,
    ],
  },
} as const;

// Which functions belong to a role other than the admin's, who has all the rest.
export const FUNCTION_ROLES: readonly { target: ContractKey; role: RoleName; functions: readonly string[] }[] = [
  { target: "manager", role: "guardian", functions: ["suspend"] },
  { target: "router", role: "guardian", functions: ["pause", "unpause", "suspendOperator"] },
  { target: "staking", role: "guardian", functions: ["vetoSlash"] },
  { target: "staking", role: "adjudicator", functions: ["proposeSlash", "executeSlash", "dismissSlash"] },
  { target: "staking", role: "court", functions: ["penalize", "compensate"] },
  { target: "receiptCourt", role: "court", functions: ["noteRefund"] },
];

// In AccessManager, the role that everybody has.
export const EVERYBODY = 2n ** 64n - 1n;

// Of every contract of the protocol `claim` is everybody's, also of those that have none: by that the registry knows them, and lets
// nobody be paid who could never collect it.
export const CLAIM = ICredits__factory.createInterface().getFunction("claim").selector;

// The code that creates a contract with these arguments.
export function creationCodeOf(key: ContractKey, constructorArguments: readonly unknown[]): string {
  const { factory } = CONTRACTS[key];
  return concat([factory.bytecode, new Interface(factory.abi).encodeDeploy(constructorArguments)]);
}

export function selectorOf(target: ContractKey, name: string): string {
  const selector = new Interface(CONTRACTS[target].factory.abi).getFunction(name)?.selector;
  if (!selector) throw new Error(`${CONTRACTS[target].title} has no function ${name}`);
  return selector;
}

// One call of ProtocolAccess that names the roles, gives them to their parties, lets each court take from bonds or stakes,
// admits the operator and takes the deployer's own role away. It happens as a whole or not at all, so a deployment is never left half wired.
export function handoverCallOf({ deployer, parties }: Terms, addresses: Addresses): string {
  const manager = ProtocolAccess__factory.createInterface();
  const router = ContextRouter__factory.createInterface();
  const bonds = OperatorBonds__factory.createInterface();
  const nameCourt = bonds.encodeFunctionData("nameCourt", [addresses.receiptCourt]);
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
      ...CONTRACT_KEYS.map((key) =>
        manager.encodeFunctionData("setTargetFunctionRole", [addresses[key], [CLAIM], EVERYBODY]),
      ),
      ...(["guardian", "adjudicator", "court"] as const).map((role) =>
        manager.encodeFunctionData("labelRole", [ROLES[role], role]),
      ),
      manager.encodeFunctionData("execute", [addresses.bonds, nameCourt]),
      manager.encodeFunctionData("execute", [addresses.router, admitOperator]),
      manager.encodeFunctionData("grantRole", [ROLES.guardian, parties.guardian, 0]),
      manager.encodeFunctionData("grantRole", [ROLES.adjudicator, parties.adjudicator, 0]),
      manager.encodeFunctionData("grantRole", [ROLES.court, addresses.schemaCourt, 0]),
      manager.encodeFunctionData("grantRole", [ROLES.admin, parties.admin, ADMIN_DELAY_SECONDS]),
      manager.encodeFunctionData("renounceRole", [ROLES.admin, deployer]),
    ],
  ]);
}
