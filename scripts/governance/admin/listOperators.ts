import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import { readLogs } from "../../command/readLogs.ts";
import type { CommonArguments } from "../../command/session.ts";

export default command<CommonArguments>(async (_, session) => {
  const { router, record } = await openDeployment(session);
  const { address, block } = record.contracts.router;
  const topics = router.interface.encodeFilterTopics("OperatorLimitSet", []);
  const logs = await readLogs(session.provider, address, topics, block);
  const named = new Set(
    logs.flatMap((log) => (router.interface.parseLog(log)?.args.operator as string | undefined) ?? []),
  );
  const operators = [];
  for (const operator of named) {
    const { limit, left } = await router.operatorLimit(operator);
    if (limit === 0n) continue;
    operators.push({ operator, limitUsd: formatUsd(microUsdc(limit)), leftUsd: formatUsd(microUsdc(left)) });
  }
  const { output } = session;
  output.say(operators.length === 0 ? "There are no operators: run operator add." : "Operators");
  for (const { operator, limitUsd, leftUsd } of operators) {
    output.rows([[operator, `${leftUsd} left of ${limitUsd} USDC in any 24 hours`]]);
  }
  output.result(operators);
});
