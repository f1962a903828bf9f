import type { TopicFilter } from "ethers";
import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { readLogs } from "../../command/readLogs.ts";
import type { Session } from "../../command/session.ts";
import type { Protocol } from "../../protocol/connectProtocol.ts";
import { compare, type Difference } from "./difference.ts";

export async function checkOperators(
  { provider }: Session,
  { contracts, operatorLimits }: DeploymentRecord,
  { router }: Protocol,
): Promise<Difference[]> {
  const event = router.interface.getEvent("OperatorLimitSet");
  const topics: TopicFilter = [event.topicHash];
  const logs = await readLogs(provider, contracts.router.address, topics, contracts.router.block);
  const everNamed = logs.map((log) => router.interface.decodeEventLog(event, log.data, log.topics).operator as string);
  const differences: Difference[] = [];
  for (const operator of new Set([...Object.keys(operatorLimits), ...everNamed])) {
    const { limit } = await router.operatorLimit(operator);
    const expected = BigInt(operatorLimits[operator] ?? 0);
    differences.push(...compare(`daily limit of operator ${operator}`, usd(expected), usd(limit)));
  }
  return differences;
}

const usd = (value: bigint) => `${formatUsd(microUsdc(value))} USDC`;
