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
    sentence: `Slash ${amountUsd} USDC of tool ${uuid}, or what is left of its stake if that is less.`,
    rows: refundRows(terms.refunds),
    title: "execute the slash",
    target: "staking",
    data: deployment.staking.interface.encodeFunctionData("executeSlash", [id, terms]),
    role: "adjudicator",
    done: "Slashed. Refunds and bounty wait to be claimed: claim.",
    document: { tool: uuid, amountUsd },
  });
});
