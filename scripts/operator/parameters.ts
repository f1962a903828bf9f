import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/deployment.ts";
import type { CommonArguments } from "../command/session.ts";

export default command<CommonArguments>(async (_, session) => {
  const { staking, router } = await openDeployment(session);
  const { minimumStake, stakeMultiplier, bountyBps } = await staking.parameters();
  const paused = await router.paused();
  session.output.rows([
    ["minimum stake", `${formatUsd(microUsdc(minimumStake))} USDC`],
    ["stake multiplier", `${stakeMultiplier} times the price`],
    ["bounty", `${bountyBps} hundredths of a percent of a slash`],
    ["payments", paused ? "paused" : "running"],
  ]);
  session.output.result({
    minimumStakeUsd: formatUsd(microUsdc(minimumStake)),
    stakeMultiplier: Number(stakeMultiplier),
    bountyBps: Number(bountyBps),
    paused,
  });
});
