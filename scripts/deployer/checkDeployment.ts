import { readDeployment } from "../../settlement/deployment.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import type { CommonArguments } from "../command/session.ts";
import { environment } from "../config/environment.ts";
import { rowOf } from "./differences/difference.ts";
import { findDifferences } from "./findDifferences.ts";

// `check-deployment`: says what differs between the live deployment and the repository, and fails if anything does.
export default command<CommonArguments>(async (_, session) => {
  const { output, network } = session;
  const record = readDeployment(network, environment.deploymentsFolder);
  const differences = await findDifferences(session, record);
  if (differences.length > 0) {
    output.rows(differences.map(rowOf));
    throw new CommandError(`the deployment on ${network} differs from this repository`, { network, differences });
  }
  output.say(`The deployment on ${network} is what this repository describes: bytecode, roles and parameters.`);
  output.result({ network, differences });
});
