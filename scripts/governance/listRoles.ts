import { command } from "../command/command.ts";
import { formatDuration } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import { readLogs } from "../command/readLogs.ts";
import type { CommonArguments } from "../command/session.ts";
import { ROLES, type RoleName } from "../protocol/description.ts";

// `role list`: who holds which role now. Roles cannot be listed on chain, so whoever was ever granted one is asked for.
export default command<CommonArguments>(async (_, session) => {
  const { manager, record } = await openDeployment(session);
  const { address, block } = record.contracts.manager;
  const event = manager.interface.getEvent("RoleGranted");
  const logs = await readLogs(session.provider, address, [event.topicHash], block);
  const grants = logs.map((log) => manager.interface.decodeEventLog(event, log.data, log.topics));
  const holders: { role: RoleName; account: string; delaySeconds: number }[] = [];
  for (const role of Object.keys(ROLES) as RoleName[]) {
    const accounts = new Set(grants.filter(({ roleId }) => roleId === ROLES[role]).map(({ account }) => account));
    for (const account of accounts as Set<string>) {
      const { isMember, executionDelay } = await manager.hasRole(ROLES[role], account);
      if (isMember) holders.push({ role, account, delaySeconds: Number(executionDelay) });
    }
  }
  session.output.rows(
    holders.map(({ role, account, delaySeconds }) => [
      role,
      `${account}${delaySeconds === 0 ? "" : `, after ${formatDuration(BigInt(delaySeconds))}`}`,
    ]),
  );
  session.output.result(holders);
});
