import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import type { CommonArguments } from "../command/session.ts";
import { describeDifference, findDifferences } from "./findDifferences.ts";
import { readRecord } from "./record.ts";

// `check-deployment`: says what differs between the live deployment and the repository, and fails if anything does.
export default command<CommonArguments>(async (_, session) => {
  const { output, network } = session;
  const record = readRecord(network);
  const differences = await findDifferences(session, record);
  if (differences.length > 0) {
    const sentence = `The deployment on ${network} differs from this repository:\n${differences.map(describeDifference).join("\n")}`;
    throw new CommandError(sentence, { network, differences });
  }
  output.say(`The deployment on ${network} is what this repository describes: bytecode, roles and parameters.`);
  output.result({ network, differences });
});
