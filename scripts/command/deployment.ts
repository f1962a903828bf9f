import type { IFiatToken } from "../../typechain-types/index.ts";
import { IFiatToken__factory } from "../../typechain-types/index.ts";
import { connectProtocol, type Protocol } from "../deploy/protocol.ts";
import { addressesOf, type DeploymentRecord, readRecord } from "../deploy/record.ts";
import { CommandError } from "./CommandError.ts";
import type { Session } from "./session.ts";

// The deployment that a command works on, connected for reading.
export type Deployment = Protocol & {
  record: DeploymentRecord;
  addresses: ReturnType<typeof addressesOf>;
  usdc: IFiatToken;
};

export async function openDeployment({ network, chainId, provider }: Session): Promise<Deployment> {
  const record = readRecord(network);
  if (BigInt(record.chainId) !== chainId) {
    throw new CommandError(
      `The deployment on ${network} was recorded on chain ${record.chainId} and the node is on chain ${chainId}: ` +
        "start the node with that chain, or deploy again. Nothing was sent.",
    );
  }
  const addresses = addressesOf(record);
  if ((await provider.getCode(addresses.router)) === "0x") {
    throw new CommandError(
      `There is no contract at ${addresses.router}, where the record says that the router is: ` +
        "the chain may be another one or have been restarted. Run deploy again.",
    );
  }
  return {
    record,
    addresses,
    ...connectProtocol(addresses, provider),
    usdc: IFiatToken__factory.connect(record.usdc, provider),
  };
}
