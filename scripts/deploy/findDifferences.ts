import { Interface, type TopicFilter } from "ethers";
import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { readLogs } from "../command/readLogs.ts";
import type { Session } from "../command/session.ts";
import {
  CONTRACT_KEYS,
  CONTRACTS,
  creationCodeOf,
  FUNCTION_ROLES,
  ROLES,
  type RoleName,
  selectorOf,
} from "./description.ts";
import { connectProtocol, type Protocol } from "./protocol.ts";
import { addressesOf, type DeploymentRecord, termsOf } from "./record.ts";

export type Difference = { subject: string; expected: string; found: string };

export const describeDifference = ({ subject, expected, found }: Difference): string =>
  `  ${subject}: expected ${expected}, found ${found}`;

// Compares what is on chain with what the repository and the record say should be there.
export async function findDifferences(session: Session, record: DeploymentRecord): Promise<Difference[]> {
  const protocol = connectProtocol(addressesOf(record), session.provider);
  const bytecode = await checkBytecode(session, record);
  // Without the expected code, reading roles and parameters would only produce errors.
  if (bytecode.some(({ found }) => found === NO_CODE)) return bytecode;
  return [
    ...bytecode,
    ...(await checkRoles(session, record, protocol)),
    ...(await checkFunctionRoles(session, record, protocol)),
    ...(await checkAuthority(record, protocol)),
    ...(await checkParameters(record, protocol)),
    ...(await checkOperators(session, record, protocol)),
  ];
}

const NO_CODE = "no code";

// The constructor is run again, without sending anything, and its result compared byte for byte: that covers the code,
// the compiler's settings and every immutable value.
async function checkBytecode({ provider }: Session, record: DeploymentRecord): Promise<Difference[]> {
  const terms = termsOf(record);
  const addresses = addressesOf(record);
  const differences = await Promise.all(
    CONTRACT_KEYS.map(async (key) => {
      const live = await provider.getCode(addresses[key]);
      if (live === "0x") return { subject: CONTRACTS[key].title, expected: "a contract", found: NO_CODE };
      const built = await provider.call({ from: record.deployer, data: creationCodeOf(key, terms, addresses) });
      if (built === live) return [];
      const place = firstDifference(built, live);
      return {
        subject: `${CONTRACTS[key].title} at ${addresses[key]}, bytecode`,
        expected: `what this repository builds (${built.length / 2 - 1} bytes)`,
        found: `${live.length / 2 - 1} bytes that differ from byte ${place} on`,
      };
    }),
  );
  return differences.flat();
}

function firstDifference(a: string, b: string): number {
  let index = 2;
  while (index < a.length && a[index] === b[index]) index += 1;
  return Math.floor((index - 2) / 2);
}

// Roles cannot be listed on chain: whoever was ever granted one is found in the events and then asked for.
async function checkRoles(
  { provider }: Session,
  record: DeploymentRecord,
  { manager }: Protocol,
): Promise<Difference[]> {
  const { contracts, parties, adminDelaySeconds } = record;
  const event = manager.interface.getEvent("RoleGranted");
  const logs = await readLogs(provider, contracts.manager.address, [event.topicHash], contracts.manager.block);
  const grants = logs.map((log) => manager.interface.decodeEventLog(event, log.data, log.topics));
  const candidates = new Map<bigint, Set<string>>();
  const consider = (role: bigint, account: string) => {
    candidates.set(role, (candidates.get(role) ?? new Set()).add(account));
  };
  for (const grant of grants) consider(grant.roleId, grant.account);
  for (const role of roleNames) consider(ROLES[role], parties[role]);

  const differences: Difference[] = [];
  for (const [role, accounts] of candidates) {
    const name = roleNames.find((candidate) => ROLES[candidate] === role);
    for (const account of accounts) {
      const [isMember, delay] = await manager.hasRole(role, account);
      const belongs = name !== undefined && parties[name] === account;
      const subject = `role ${name ?? role} of ${account}`;
      if (belongs !== isMember) {
        differences.push({ subject, expected: belongs ? "held" : "not held", found: isMember ? "held" : "not held" });
      } else if (isMember) {
        const expected = name === "admin" ? BigInt(adminDelaySeconds) : 0n;
        if (delay !== expected) {
          differences.push({ subject: `${subject}, delay`, expected: `${expected} s`, found: `${delay} s` });
        }
      }
    }
    if (role === ROLES.admin) continue;
    const [roleAdmin, roleGuardian] = await Promise.all([manager.getRoleAdmin(role), manager.getRoleGuardian(role)]);
    if (roleAdmin !== ROLES.admin || roleGuardian !== ROLES.admin) {
      differences.push({
        subject: `who grants role ${name ?? role} and who cancels its operations`,
        expected: "role 0 and role 0",
        found: `role ${roleAdmin} and role ${roleGuardian}`,
      });
    }
  }
  return differences;
}

const roleNames = Object.keys(ROLES) as RoleName[];

// Every restricted function belongs to the admin, except those that the description gives to somebody else.
async function checkFunctionRoles(
  { provider }: Session,
  record: DeploymentRecord,
  { manager }: Protocol,
): Promise<Difference[]> {
  const addresses = addressesOf(record);
  const event = manager.interface.getEvent("TargetFunctionRoleUpdated");
  const logs = await readLogs(provider, addresses.manager, [event.topicHash], record.contracts.manager.block);
  const changed = logs.map((log) => manager.interface.decodeEventLog(event, log.data, log.topics));
  const differences: Difference[] = [];
  for (const target of ["router", "staking"] as const) {
    const expected = new Map<string, bigint>();
    for (const change of changed) if (change.target === addresses[target]) expected.set(change.selector, ROLES.admin);
    for (const { role, functions } of FUNCTION_ROLES.filter((entry) => entry.target === target)) {
      for (const name of functions) expected.set(selectorOf(target, name), ROLES[role]);
    }
    const contract = new Interface(CONTRACTS[target].factory.abi);
    for (const [selector, role] of expected) {
      const found = await manager.getTargetFunctionRole(addresses[target], selector);
      if (found === role) continue;
      const name = contract.getFunction(selector)?.name ?? selector;
      differences.push({ subject: `who may call ${target}.${name}`, expected: `role ${role}`, found: `role ${found}` });
    }
  }
  return differences;
}

async function checkAuthority(record: DeploymentRecord, protocol: Protocol): Promise<Difference[]> {
  const addresses = addressesOf(record);
  const differences: Difference[] = [];
  for (const target of ["router", "staking"] as const) {
    const [authority, closed, delay] = await Promise.all([
      protocol[target].authority(),
      protocol.manager.isTargetClosed(addresses[target]),
      protocol.manager.getTargetAdminDelay(addresses[target]),
    ]);
    if (authority !== addresses.manager) {
      differences.push({ subject: `authority of the ${target}`, expected: addresses.manager, found: authority });
    }
    if (closed) differences.push({ subject: `the ${target}`, expected: "open", found: "closed by the admin" });
    if (delay !== 0n) {
      differences.push({ subject: `admin delay of the ${target}`, expected: "0 s", found: `${delay} s` });
    }
  }
  return differences;
}

async function checkParameters({ parameters }: DeploymentRecord, { staking }: Protocol): Promise<Difference[]> {
  const live = await staking.parameters();
  return (["minimumStake", "stakeMultiplier", "bountyBps"] as const).flatMap((name) => {
    const found = live[name].toString();
    return found === parameters[name] ? [] : { subject: `parameter ${name}`, expected: parameters[name], found };
  });
}

async function checkOperators(
  { provider }: Session,
  { contracts, operatorLimits }: DeploymentRecord,
  { router }: Protocol,
): Promise<Difference[]> {
  const event = router.interface.getEvent("OperatorLimitSet");
  const topics: TopicFilter = [event.topicHash];
  const logs = await readLogs(provider, contracts.router.address, topics, contracts.router.block);
  const everNamed = logs.map((log) => router.interface.decodeEventLog(event, log.data, log.topics).operator as string);
  const differences: Difference[] = [];
  for (const operator of new Set([...Object.keys(operatorLimits), ...everNamed])) {
    const expected = BigInt(operatorLimits[operator] ?? 0);
    const [found] = await router.operatorLimit(operator);
    if (found === expected) continue;
    const subject = `daily limit of operator ${operator}`;
    differences.push({ subject, expected: usd(expected), found: usd(found) });
  }
  return differences;
}

const usd = (value: bigint) => `${formatUsd(microUsdc(value))} USDC`;
