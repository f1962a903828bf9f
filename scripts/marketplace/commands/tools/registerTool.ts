import { statementOf } from "../../../../marketplace/registry/statementOf.ts";
import { CommandError } from "../../../command/CommandError.ts";
import { command } from "../../../command/command.ts";
import { findTool } from "../../../command/findTool.ts";
import { openDeployment } from "../../../command/openDeployment.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { registerTool } from "../../asWallet.ts";
import { openMarketplace } from "../openMarketplace.ts";
import { openWallet } from "../openWallet.ts";
import { type RegistrationOptions, readRegistration } from "./readRegistration.ts";
import { showOutcome } from "./showOutcome.ts";

type Arguments = CommonArguments & RegistrationOptions & { tool: string; marketplace: string | undefined };

// `register-tool`: the owner on chain signs the hash of what is said of the tool, so nobody on the way can change it.
export default command<Arguments>(async (args, session) => {
  const registration = readRegistration(args.tool, args);
  const marketplace = openMarketplace(session, args.marketplace);
  const deployment = await openDeployment(session);
  const { id, uuid, listing } = await findTool(deployment, args.tool);
  const wallet = await openWallet(session, marketplace, statementOf(registration));
  if (wallet.address !== listing.owner) {
    throw new CommandError(
      `the tool belongs to ${listing.owner}, and ${wallet.address} would sign: sign with --from ${listing.owner}`,
    );
  }
  const { name, endpoint } = registration;
  session.output.say(`Offer tool ${uuid} as "${name}", served at ${endpoint}.`);
  const outcome = await registerTool(marketplace.ask, wallet, registration);
  const done = `Listed: buyers find "${name}" at ${marketplace.url.origin}.`;
  await showOutcome(session, { deployment, id, uuid }, outcome, done);
});
