import type { TransactionReceipt } from "ethers";
import { CommandError } from "../command/CommandError.ts";
import { formatTime } from "../command/format.ts";
import type { Deployment } from "../command/openDeployment.ts";
import type { Json, Row } from "../command/output.ts";
import type { Session } from "../command/session.ts";
import { type Intent, report, send } from "../command/transaction/send.ts";
import { requireSuccess, simulate } from "../command/transaction/simulate.ts";
import { type ContractKey, type PartyRole, ROLES } from "../protocol/description.ts";
import { safeTransactions } from "./safeTransactions.ts";

// Something that only the holder of a role may do to one of the contracts.
export type Act = {
  sentence: string;
  rows?: readonly Row[];
  title: string;
  target: ContractKey;
  data: string;
  role: PartyRole;
  done: string;
  document: { [key: string]: Json };
};

// Does it at once if the sender may, schedules it if the sender must wait, and for a multisig prints the transaction.
export async function act(session: Session, deployment: Deployment, request: Act): Promise<void> {
  const { sentence, rows = [], title, target, data, done, document } = request;
  const { manager, addresses } = deployment;
  const sender = await senderOf(session, deployment.record.parties[request.role]);
  const permission = await permissionOf(deployment, sender, request);
  if (permission === "immediate") {
    const receipts = await deliver(session, sender, {
      sentence,
      rows,
      calls: [{ title, to: addresses[target], data }],
    });
    if (receipts) report(session, receipts, done, document);
    return;
  }
  const operation = await manager.hashOperation(sender, addresses[target], data);
  const scheduled = await manager.getSchedule(operation);
  if (scheduled !== 0n) {
    throw new CommandError(
      `this is scheduled already and can be executed from ${formatTime(scheduled)} on: ` +
        `run operation execute ${operation}`,
    );
  }
  const receipts = await deliver(session, sender, {
    sentence: `${sentence} It takes effect only when it is executed, in ${permission.delaySeconds / 3600n} hours at the earliest.`,
    rows,
    calls: [
      {
        title: `schedule: ${title}`,
        to: addresses.manager,
        data: manager.interface.encodeFunctionData("schedule", [addresses[target], data, 0]),
      },
    ],
  });
  if (!receipts) return;
  const readyAt = await manager.getSchedule(operation);
  report(session, receipts, `Scheduled. From ${formatTime(readyAt)} on: operation execute ${operation}`, {
    ...document,
    operation,
    readyAt: Number(readyAt),
  });
}

// Sends, or prints what a Safe is to send. Returns the receipts if it sent.
export async function deliver(
  session: Session,
  sender: string,
  intent: Intent,
): Promise<TransactionReceipt[] | undefined> {
  if (!session.safe) return send(session, intent);
  requireSuccess(await simulate(session.provider, sender, intent.calls));
  session.output.result(safeTransactions(session, sender, intent.sentence, intent.calls));
  return undefined;
}

// A Safe's own key does not exist: its transactions are prepared in its name by somebody without any key.
export const senderOf = async (session: Session, holder: string): Promise<string> =>
  session.safe ? (session.from ?? holder) : (await session.signer()).address;

async function permissionOf(
  { manager, addresses, record }: Deployment,
  sender: string,
  { target, data, role }: Act,
): Promise<"immediate" | { delaySeconds: bigint }> {
  // The manager answers for the other contracts, but not for itself: there, the delay of whoever holds the role applies.
  const answer =
    target === "manager"
      ? await manager.hasRole(ROLES[role], sender).then(({ isMember, executionDelay }) => ({
          immediate: isMember && executionDelay === 0n,
          delay: isMember ? executionDelay : 0n,
        }))
      : await manager.canCall(sender, addresses[target], data.slice(0, 10));
  if (answer.immediate) return "immediate";
  if (answer.delay > 0n) return { delaySeconds: answer.delay };
  throw new CommandError(
    `only the ${role} may do this, and ${sender} is not: use the key of ${record.parties[role]} with --from, ` +
      "or prepare it for a multisig with --safe",
  );
}
