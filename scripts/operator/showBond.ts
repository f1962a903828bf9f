import { command } from "../command/command.ts";
import { formatTime } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { operatorOf, readBond, usd } from "./bond.ts";

// `bond show`: what an operator has pledged, and whether it is enough to settle.
export default command<CommonArguments & { operator: string | undefined }>(async (args, session) => {
  const { output } = session;
  const deployment = await openDeployment(session);
  const operator = await operatorOf(session, args.operator);
  const { amount, leaving, readyAt, required, bonded, owner } = await readBond(deployment, operator);
  output.say(`The bond of ${operator}:`);
  output.rows([
    ["pledged", `${usd(amount - leaving)} USDC`],
    ["needed", `${usd(required)} USDC`],
    ["leaving", leaving === 0n ? "nothing" : `${usd(leaving)} USDC from ${formatTime(readyAt)} on`],
    ["owner", owner],
    ["settles", bonded ? "yes" : "no, the bond is too low"],
  ]);
  output.result({
    operator,
    pledgedUsd: usd(amount - leaving),
    neededUsd: usd(required),
    leavingUsd: usd(leaving),
    readyAt: Number(readyAt),
    owner,
    bonded,
  });
});
