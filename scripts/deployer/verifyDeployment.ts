import { verifyContract } from "@nomicfoundation/hardhat-verify/verify";
import { readDeployment } from "../../settlement/deployment.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import type { CommonArguments, Session } from "../command/session.ts";
import { environment } from "../config/environment.ts";
import { CONTRACT_KEYS, CONTRACTS } from "../protocol/description.ts";

// `verify-deployment`: sends the sources of all contracts to the block explorer. Hardhat's own `verify` does one
// contract whose address and arguments one must know; here the record knows them.
export default command<CommonArguments>(async (_, session) => {
  const { output, network, settings } = session;
  if (!settings.explorer) {
    throw new CommandError(`no block explorer knows ${network}: choose --network base or --network base-sepolia`);
  }
  const record = readDeployment(network, environment.deploymentsFolder);
  if (!(await session.hre.artifacts.artifactExists(CONTRACTS.router.source))) {
    throw new CommandError("the contracts have not been built here: run npx hardhat build first");
  }
  await withoutStandardOutput(session, async ({ hre }) => {
    for (const key of CONTRACT_KEYS) {
      const { address, arguments: constructorArgs } = record.contracts[key];
      await verifyContract({ address, constructorArgs, contract: CONTRACTS[key].source }, hre);
    }
  });
  output.say("All sources are on the block explorer:");
  output.rows(
    CONTRACT_KEYS.map((key) => [
      CONTRACTS[key].title,
      `${settings.explorer}/address/${record.contracts[key].address}#code`,
    ]),
  );
  output.result({ network, verified: CONTRACT_KEYS.map((key) => record.contracts[key].address) });
});

// Hardhat's verification prints as it goes. With --json, standard output belongs to the document alone.
async function withoutStandardOutput(session: Session, run: (session: Session) => Promise<void>): Promise<void> {
  const { log } = console;
  if (session.output.json) console.log = console.error;
  try {
    await run(session);
  } finally {
    console.log = log;
  }
}
