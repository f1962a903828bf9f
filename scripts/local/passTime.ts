import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { formatTime } from "../command/format.ts";
import { type CommonArguments, timeOf } from "../command/session.ts";

const SECONDS_PER_DAY = 24 * 60 * 60;

// `pass-time`: lets days go by on a local chain, so that a rehearsal need not wait for delays.
export default command<CommonArguments & { days: number }>(async ({ days }, session) => {
  const { network, provider, output } = session;
  if (network !== "local") throw new CommandError("time can be moved on a local chain only: add --network local");
  if (days < 1) throw new CommandError("time goes forward only: name at least one day");
  await provider.send("evm_increaseTime", [days * SECONDS_PER_DAY]);
  await provider.send("evm_mine", []);
  const now = await timeOf(session);
  output.say(`On this chain it is now ${formatTime(now)}.`);
  output.result({ timestamp: now.toString() });
});
