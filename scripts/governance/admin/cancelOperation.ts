import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { report } from "../../command/transaction/send.ts";
import { deliver, senderOf } from "../act.ts";
import { findOperation } from "./operations.ts";

export default command<CommonArguments & { operation: string | undefined }>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { manager, addresses } = deployment;
  const { id, caller, target, data, description } = await findOperation(session, deployment, args.operation);
  const receipts = await deliver(session, await senderOf(session, caller), {
    sentence: `Cancel ${description}.`,
    calls: [
      {
        title: "cancel the operation",
        to: addresses.manager,
        data: manager.interface.encodeFunctionData("cancel", [caller, target, data]),
      },
    ],
  });
  if (receipts) report(session, receipts, "Cancelled.", { operation: id, description });
});
