import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { formatTime } from "../../command/format.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import { type CommonArguments, timeOf } from "../../command/session.ts";
import { report } from "../../command/transaction/send.ts";
import { deliver, senderOf } from "../act.ts";
import { findOperation } from "./operations.ts";

export default command<CommonArguments & { operation: string | undefined }>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { manager, addresses } = deployment;
  const { id, caller, target, data, description, readyAt } = await findOperation(session, deployment, args.operation);
  if ((await timeOf(session)) < readyAt) {
    throw new CommandError(`the operation can be executed from ${formatTime(readyAt)} on`);
  }
  const sender = await senderOf(session, caller);
  if (sender !== caller) {
    throw new CommandError(`only ${caller}, who scheduled it, can execute it: use its key with --from`);
  }
  const receipts = await deliver(session, sender, {
    sentence: `Execute ${description}.`,
    calls: [
      {
        title: "execute the operation",
        to: addresses.manager,
        data: manager.interface.encodeFunctionData("execute", [target, data]),
      },
    ],
  });
  if (receipts) report(session, receipts, "Executed.", { operation: id, description });
});
