import { Interface } from "ethers";
import { CommandError } from "../../command/CommandError.ts";
import type { Deployment } from "../../command/openDeployment.ts";
import { readLogs } from "../../command/readLogs.ts";
import type { Session } from "../../command/session.ts";
import { CONTRACT_KEYS, CONTRACTS } from "../../protocol/description.ts";

// Something that the admin has scheduled and that waits to be executed.
export type Operation = {
  id: string;
  caller: string;
  target: string;
  data: string;
  description: string;
  readyAt: bigint;
  expiresAt: bigint;
};

// All operations that can still be executed or cancelled.
export async function pendingOperations({ provider }: Session, deployment: Deployment): Promise<Operation[]> {
  const { manager, record } = deployment;
  const { address, block } = record.contracts.manager;
  const topics = manager.interface.encodeFilterTopics("OperationScheduled", []);
  const logs = await readLogs(provider, address, topics, block);
  const expiration = await manager.expiration();
  const operations = new Map<string, Operation>();
  for (const log of logs) {
    const { operationId, caller, target, data } = manager.interface.decodeEventLog(
      "OperationScheduled",
      log.data,
      log.topics,
    );
    // Zero once it was executed or cancelled, or has waited too long.
    const readyAt = await manager.getSchedule(operationId);
    if (readyAt === 0n) continue;
    const description = describeCall(deployment, target, data);
    operations.set(operationId, {
      id: operationId,
      caller,
      target,
      data,
      description,
      readyAt,
      expiresAt: readyAt + expiration,
    });
  }
  return [...operations.values()];
}

// The operation with this id, which may be left out if there is no choice.
export async function findOperation(
  session: Session,
  deployment: Deployment,
  id: string | undefined,
): Promise<Operation> {
  const operations = await pendingOperations(session, deployment);
  const [only] = operations;
  if (id === undefined && only && operations.length === 1) return only;
  if (id === undefined) {
    throw new CommandError(`${operations.length} operations are waiting: name one from operation list`);
  }
  const operation = operations.find((candidate) => candidate.id === id.toLowerCase());
  if (operation) return operation;
  throw new CommandError(`operation ${id} is not waiting: operation list shows those that are`);
}

function describeCall({ addresses }: Deployment, target: string, data: string): string {
  const key = CONTRACT_KEYS.find((candidate) => addresses[candidate] === target);
  const call = key && new Interface(CONTRACTS[key].factory.abi).parseTransaction({ data });
  return call ? `${key}.${call.name}(${call.args.join(", ")})` : `${target} ${data}`;
}
