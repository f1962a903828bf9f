import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { Json, Row } from "../../command/output.ts";
import type { CommonArguments } from "../../command/session.ts";
import { PARAMETER_NAMES, type ParameterName } from "../../protocol/parameters.ts";

export default command<CommonArguments>(async (_, session) => {
  const { staking, router } = await openDeployment(session);
  const parameters = await staking.parameters();
  const paused = await router.paused();
  session.output.rows([...describeParameters(parameters), ["payments", paused ? "paused" : "running"]]);
  session.output.result({ ...documentOf(parameters), paused });
});

const MONEY: readonly ParameterName[] = ["minimumStake", "maxPenalty"];

export const isMoney = (name: ParameterName): boolean => MONEY.includes(name);

const usd = (value: bigint) => formatUsd(microUsdc(value));

export const describeParameters = (parameters: Record<ParameterName, bigint>): Row[] => [
  ["minimum stake", `${usd(parameters.minimumStake)} USDC`],
  ["stake multiplier", `${parameters.stakeMultiplier} times the price`],
  ["bounty", `${parameters.bountyBps} basis points of a slash`],
  ["highest penalty", `${usd(parameters.maxPenalty)} USDC by a court at once`],
  ["daily penalties", `${parameters.dailyPenaltyBps} basis points of a stake by courts in any 24 hours`],
];

// Money in dollars and by a name that says so, everything else as a number.
export const documentOf = (parameters: Record<ParameterName, bigint>): { [key: string]: Json } =>
  Object.fromEntries(
    PARAMETER_NAMES.map((name) =>
      isMoney(name) ? [`${name}Usd`, usd(parameters[name])] : [name, Number(parameters[name])],
    ),
  );
