import { command } from "../../command/command.ts";
import { formatDuration, formatTime } from "../../command/format.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import { type CommonArguments, timeOf } from "../../command/session.ts";
import { pendingOperations } from "./operations.ts";

export default command<CommonArguments>(async (_, session) => {
  const { output } = session;
  const operations = await pendingOperations(session, await openDeployment(session));
  const now = await timeOf(session);
  if (operations.length === 0) output.say("Nothing is scheduled.");
  for (const { id, caller, description, readyAt, expiresAt } of operations) {
    output.say(description);
    output.rows([
      ["operation", id],
      ["scheduled by", caller],
      ["ready", readyAt <= now ? "now" : `${formatTime(readyAt)}, in ${formatDuration(readyAt - now)}`],
      ["void from", formatTime(expiresAt)],
    ]);
  }
  output.result(
    operations.map(({ readyAt, expiresAt, ...operation }) => ({
      ...operation,
      readyAt: Number(readyAt),
      expiresAt: Number(expiresAt),
      ready: readyAt <= now,
    })),
  );
});
