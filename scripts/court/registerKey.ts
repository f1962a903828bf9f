import { requiredAddress } from "../command/arguments.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import { openCourt } from "./openCourt.ts";

type Arguments = CommonArguments & Record<"key" | "court", string | undefined> & { tool: string };

export default command<Arguments>(async (args, session) => {
  const key = requiredAddress("--key", args.key);
  const { court, address } = await openCourt(session, args.court);
  const { id, uuid } = await findTool(await openDeployment(session), args.tool);
  const receipts = await send(session, {
    sentence: `Let the key ${key} sign the answers of tool ${uuid}.`,
    calls: [
      {
        title: `register the key ${key}`,
        to: address,
        data: court.interface.encodeFunctionData("registerKey", [id, key]),
      },
    ],
  });
  report(session, receipts, `What ${key} signs from now on can be held against the tool.`, { tool: uuid, key });
});
