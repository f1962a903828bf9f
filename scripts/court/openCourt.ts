import { type SchemaCourt, SchemaCourt__factory } from "../../typechain-types/index.ts";
import { requiredAddress } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import type { Session } from "../command/session.ts";

export type OpenCourt = { court: SchemaCourt; address: string };

export async function openCourt({ provider, network }: Session, named: string | undefined): Promise<OpenCourt> {
  const address = requiredAddress("--court", named);
  if ((await provider.getCode(address)) === "0x") {
    throw new CommandError(`there is no contract at ${address} on ${network}: check --court`);
  }
  return { court: SchemaCourt__factory.connect(address, provider), address };
}
