import { getAddress, Signature } from "ethers";
import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { formatCap, formatTime } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import { type CommonArguments, timeOf } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import { readPermit } from "./permit.ts";

// `send-permit`: sends a spending cap that somebody else has signed; the sender pays the gas and nothing else.
export default command<CommonArguments & { file: string }>(async ({ file }, session) => {
  const permit = readPermit(file);
  const { usdc, addresses, record } = await openDeployment(session);
  const { owner, value, deadline } = permit;
  if (BigInt(permit.chainId) !== session.chainId || getAddress(permit.token) !== getAddress(record.usdc)) {
    throw new CommandError(`the permit in ${file} is for chain ${permit.chainId}: choose that network`);
  }
  if (getAddress(permit.spender) !== getAddress(addresses.router)) {
    throw new CommandError(
      `the permit in ${file} lets ${permit.spender} spend, which is not our router: do not send it`,
    );
  }
  if ((await timeOf(session)) > BigInt(deadline)) {
    throw new CommandError(`the permit in ${file} ended at ${formatTime(BigInt(deadline))}: ask for a new one`);
  }
  const { v, r, s } = Signature.from(permit.signature);
  const receipts = await send(session, {
    sentence: `Set the spending cap of ${owner} to ${formatCap(BigInt(value))}, as it has signed.`,
    calls: [
      {
        title: "send the permit",
        to: record.usdc,
        data: usdc.interface.encodeFunctionData("permit", [owner, permit.spender, value, deadline, v, r, s]),
      },
    ],
  });
  const cap = await usdc.allowance(owner, addresses.router);
  report(session, receipts, `The spending cap of ${owner} is now ${formatCap(cap)}.`, {
    payer: owner,
    capUsd: formatUsd(microUsdc(cap)),
  });
});
