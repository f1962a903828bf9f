import { Interface, ZeroAddress } from "ethers";
import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import { readLogs } from "../../command/readLogs.ts";
import type { Session } from "../../command/session.ts";
import { addressesOf, type Protocol } from "../../protocol/connectProtocol.ts";
import {
  CLAIM,
  CONTRACT_KEYS,
  CONTRACTS,
  EVERYBODY,
  FUNCTION_ROLES,
  ROLES,
  selectorOf,
} from "../../protocol/description.ts";
import { findSharedDuties } from "../../protocol/duties.ts";
import { compare, type Difference } from "./difference.ts";

// What ProtocolAccess never lets happen. Each of these events is the trace of somebody who acts for the admin, or of a
// delay that is not its own, at present or in days to come.
const IMPOSSIBLE = [
  "RoleAdminChanged",
  "RoleGuardianChanged",
  "RoleGrantDelayChanged",
  "TargetAdminDelayUpdated",
  "TargetClosed",
] as const;

// Every restricted function belongs to the admin, except those that the description gives to somebody else.
export async function checkFunctionRoles(
  { provider }: Session,
  record: DeploymentRecord,
  { manager }: Protocol,
): Promise<Difference[]> {
  const addresses = addressesOf(record);
  const event = manager.interface.getEvent("TargetFunctionRoleUpdated");
  const logs = await readLogs(provider, addresses.manager, [event.topicHash], record.contracts.manager.block);
  const expected = new Map<string, { target: string; selector: string; role: bigint }>();
  const expect = (target: string, selector: string, role: bigint) =>
    expected.set(`${target}${selector}`, { target, selector, role });
  for (const log of logs) {
    const { target, selector } = manager.interface.decodeEventLog(event, log.data, log.topics);
    expect(target, selector, ROLES.admin);
  }
  for (const { target, role, functions } of FUNCTION_ROLES) {
    for (const name of functions) expect(addresses[target], selectorOf(target, name), ROLES[role]);
  }
  for (const key of CONTRACT_KEYS) expect(addresses[key], CLAIM, EVERYBODY);
  const differences: Difference[] = [];
  for (const { target, selector, role } of expected.values()) {
    const found = await manager.getTargetFunctionRole(target, selector);
    const key = CONTRACT_KEYS.find((candidate) => addresses[candidate] === target);
    const name = (key && new Interface(CONTRACTS[key].factory.abi).getFunction(selector)?.name) ?? selector;
    differences.push(...compare(`who may call ${key ?? target}.${name}`, `role ${role}`, `role ${found}`));
  }
  return differences;
}

// That nothing stands between the admin's delay and what it is to delay.
export async function checkDelays(
  { provider }: Session,
  record: DeploymentRecord,
  { manager }: Protocol,
): Promise<Difference[]> {
  const { address, block } = record.contracts.manager;
  const differences: Difference[] = [];
  for (const role of Object.values(ROLES)) {
    const [admin, guardian, delay] = await Promise.all([
      manager.getRoleAdmin(role),
      manager.getRoleGuardian(role),
      manager.getRoleGrantDelay(role),
    ]);
    differences.push(
      ...compare(`who grants role ${role}`, `role ${ROLES.admin}`, `role ${admin}`),
      ...compare(`who cancels operations of role ${role}`, `role ${ROLES.admin}`, `role ${guardian}`),
      ...compare(`how long a grant of role ${role} waits`, "0 s", `${delay} s`),
    );
  }
  for (const name of IMPOSSIBLE) {
    const event = manager.interface.getEvent(name as "RoleAdminChanged");
    for (const log of await readLogs(provider, address, [event.topicHash], block)) {
      const found = `${name}(${manager.interface.decodeEventLog(event, log.data, log.topics).join(", ")})`;
      differences.push({ subject: `the manager in block ${log.blockNumber}`, expected: `no ${name}`, found });
    }
  }
  return differences;
}

// That all contracts are under this authority, in this money, know each other, and pay the accounts that the record names.
export async function checkContracts(
  { settings }: Session,
  record: DeploymentRecord,
  { router, staking, bonds, receiptCourt, schemaCourt, manager }: Protocol,
): Promise<Difference[]> {
  const addresses = addressesOf(record);
  const differences = compare("USDC in the record", settings.usdc, record.usdc);
  for (const [name, contract] of [
    ["router", router],
    ["staking", staking],
    ["bonds", bonds],
    ["receiptCourt", receiptCourt],
  ] as const) {
    const [authority, closed, delay] = await Promise.all([
      contract.authority(),
      manager.isTargetClosed(addresses[name]),
      manager.getTargetAdminDelay(addresses[name]),
    ]);
    differences.push(
      ...compare(`authority of the ${name}`, addresses.manager, authority),
      ...compare(`the ${name}`, "open", closed ? "closed by the admin" : "open"),
      ...compare(`admin delay of the ${name}`, "0 s", `${delay} s`),
    );
  }
  for (const [name, contract] of [
    ["router", router],
    ["staking", staking],
  ] as const) {
    const [usdc, pending] = await Promise.all([contract.usdc(), contract.pendingBeneficiary()]);
    differences.push(
      ...compare(`USDC of the ${name}`, settings.usdc, usdc),
      ...compare(`who is to replace the ${name}'s beneficiary`, "nobody", pending === ZeroAddress ? "nobody" : pending),
    );
  }
  return [
    ...differences,
    ...compare("USDC of the bonds", settings.usdc, await bonds.usdc()),
    ...compare("registry of the router", addresses.staking, await router.staking()),
    ...compare("bonds of the router", addresses.bonds, await router.bonds()),
    ...compare("router of the receipt court", addresses.router, await receiptCourt.router()),
    ...compare("who takes from bonds", addresses.receiptCourt, await bonds.court()),
    ...compare("registry of the schema court", addresses.staking, await schemaCourt.staking()),
    ...compare("who reads schemas for the schema court", addresses.jsonSchema, await schemaCourt.judge()),
    ...compare("who knows charges for the schema court", addresses.receiptCourt, await schemaCourt.charges()),
    ...compare("treasury", record.parties.treasury, await router.treasury()),
    ...compare("insurance account", record.parties.insurance, await staking.insurance()),
    ...findSharedDuties(record.parties).map((found) => ({ subject: "duties", expected: "two addresses", found })),
  ];
}
