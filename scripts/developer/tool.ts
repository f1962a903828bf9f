import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { formatTime } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { Row } from "../command/output.ts";
import type { CommonArguments } from "../command/session.ts";
import { describeTool, type ToolStatus } from "./describeTool.ts";

export default command<CommonArguments & { tool: string }>(async (args, session) => {
  const deployment = await openDeployment(session);
  const status = await describeTool(session, deployment, await findTool(deployment, args.tool));
  session.output.say(`Tool ${status.tool}`);
  session.output.rows(rowsOf(status));
  session.output.result(status);
});

function rowsOf(status: ToolStatus): Row[] {
  const rows: Row[] = [
    ["owner", status.owner],
    ["price", `${status.priceUsd} USDC`],
    [
      "stake",
      `${status.stakeUsd} USDC of ${status.requiredStakeUsd} required${status.payable ? "" : ": too low, the tool earns nothing"}`,
    ],
    ["earned", `${status.earnedUsd} USDC so far, after the protocol's share`],
    ["claimable", `${status.claimableUsd} USDC by ${status.payout}, from all its tools`],
  ];
  if (status.withdrawal) {
    const { amountUsd, readyAt } = status.withdrawal;
    rows.push(["withdrawal", `${amountUsd} USDC, ready at ${formatTime(BigInt(readyAt))}`]);
  }
  if (status.slash) {
    const { executableAt, expiresAt } = status.slash;
    rows.push([
      "slash",
      `proposed; executable from ${formatTime(BigInt(executableAt))} to ${formatTime(BigInt(expiresAt))}`,
    ]);
  }
  return rows;
}
