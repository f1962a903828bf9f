import { type SchemaCourt, SchemaCourt__factory } from "../../typechain-types/index.ts";
import { requiredAddress } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { Session } from "../command/session.ts";

export type OpenCourt = { court: SchemaCourt; address: string };

// The court of the deployment, or the one that is named: the admin can let another contract be a court.
export async function openCourt(session: Session, named: string | undefined): Promise<OpenCourt> {
  const { provider, network } = session;
  if (named === undefined) {
    const { schemaCourt, addresses } = await openDeployment(session);
    return { court: schemaCourt, address: addresses.schemaCourt };
  }
  const address = requiredAddress("--court", named);
  if ((await provider.getCode(address)) === "0x") {
    throw new CommandError(`there is no contract at ${address} on ${network}: check --court`);
  }
  return { court: SchemaCourt__factory.connect(address, provider), address };
}
