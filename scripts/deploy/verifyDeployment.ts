import { verifyContract } from "@nomicfoundation/hardhat-verify/verify";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import type { CommonArguments } from "../command/session.ts";
import { CONTRACT_KEYS, CONTRACTS } from "./description.ts";
import { readRecord } from "./record.ts";

// `verify-deployment`: sends the sources of all three contracts to the block explorer. Hardhat's own `verify` does one
// contract whose address and arguments one has to know; here the record knows them.
export default command<CommonArguments>(async (_, session) => {
  const { output, network, settings, hre } = session;
  if (!settings.explorer) {
    throw new CommandError(`No block explorer knows ${network}: choose --network base or --network base-sepolia.`);
  }
  const record = readRecord(network);
  for (const key of CONTRACT_KEYS) {
    const { address, arguments: constructorArgs } = record.contracts[key];
    await verifyContract({ address, constructorArgs, contract: CONTRACTS[key].source }, hre);
    output.say(`${CONTRACTS[key].title}: ${settings.explorer}/address/${address}#code`);
  }
  output.result({ network, verified: CONTRACT_KEYS.map((key) => record.contracts[key].address) });
});
