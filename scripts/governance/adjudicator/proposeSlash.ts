import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { command } from "../../command/command.ts";
import { findTool } from "../../command/findTool.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { act } from "../act.ts";
import { readSlashTerms, refundRows } from "./slashTerms.ts";

export default command<CommonArguments & { tool: string; terms: string | undefined }>(async (args, session) => {
  const terms = readSlashTerms(args.terms);
  const deployment = await openDeployment(session);
  const { id, uuid } = await findTool(deployment, args.tool);
  const amountUsd = formatUsd(microUsdc(BigInt(terms.amount)));
  await act(session, deployment, {
    sentence: `Propose to slash ${amountUsd} USDC of tool ${uuid}. Its developer then has 3 days to answer.`,
    rows: refundRows(terms.refunds),
    title: "propose the slash",
    target: "staking",
    data: deployment.staking.interface.encodeFunctionData("proposeSlash", [id, terms]),
    role: "adjudicator",
    done: "Proposed. slash show says when it can be executed.",
    document: { tool: uuid, amountUsd },
  });
});
