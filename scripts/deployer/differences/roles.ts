import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import { formatTime } from "../../command/format.ts";
import { readLogs } from "../../command/readLogs.ts";
import type { Session } from "../../command/session.ts";
import type { Protocol } from "../../protocol/connectProtocol.ts";
import { ADMIN_DELAY_SECONDS, ROLES, type RoleName } from "../../protocol/description.ts";
import { compare, type Difference } from "./difference.ts";

const ROLE_NAMES = Object.keys(ROLES) as RoleName[];

// Roles cannot be listed on chain: whoever was ever granted one is found in the events and then asked for. A grant that
// waits for its day, and a delay that is about to change, are differences like one in force.
export async function checkRoles(
  { provider }: Session,
  { contracts, parties, adminDelaySeconds }: DeploymentRecord,
  { manager }: Protocol,
): Promise<Difference[]> {
  const event = manager.interface.getEvent("RoleGranted");
  const logs = await readLogs(provider, contracts.manager.address, [event.topicHash], contracts.manager.block);
  const candidates = new Map<bigint, Set<string>>();
  const consider = (role: bigint, account: string) => {
    candidates.set(role, (candidates.get(role) ?? new Set()).add(account));
  };
  for (const log of logs) {
    const { roleId, account } = manager.interface.decodeEventLog(event, log.data, log.topics);
    consider(roleId, account);
  }
  const holders: Partial<Record<RoleName, string>> = {
    admin: parties.admin,
    guardian: parties.guardian,
    adjudicator: parties.adjudicator,
    court: contracts.schemaCourt.address,
  };
  for (const role of ROLE_NAMES) if (holders[role] !== undefined) consider(ROLES[role], holders[role]);

  // Whoever writes the record may be the admin that it names.
  const adminDelay = BigInt(Math.max(adminDelaySeconds, ADMIN_DELAY_SECONDS));
  const now = BigInt((await provider.getBlock("latest"))?.timestamp ?? 0);
  const differences: Difference[] = [];
  for (const [role, accounts] of candidates) {
    const name = ROLE_NAMES.find((candidate) => ROLES[candidate] === role);
    for (const account of accounts) {
      const access = await manager.getAccess(role, account);
      const subject = `role ${name ?? role} of ${account}`;
      const isHolder = name !== undefined && holders[name] === account;
      const delay = name === "admin" ? adminDelay : 0n;
      if (!isHolder || access.since === 0n) {
        differences.push(
          ...compare(subject, isHolder ? "held" : "not held", access.since === 0n ? "not held" : "held"),
        );
        continue;
      }
      if (access.since > now) {
        differences.push({ subject, expected: "held", found: `held from ${formatTime(access.since)} on` });
      }
      differences.push(...compare(`${subject}, delay`, `${delay} s`, `${access.currentDelay} s`));
      if (access.effect !== 0n) {
        const found = `${access.pendingDelay} s from ${formatTime(access.effect)} on`;
        differences.push({ subject: `${subject}, pending delay`, expected: "none", found });
      }
    }
  }
  return differences;
}
