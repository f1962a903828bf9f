import { type DeploymentRecord, readDeployment } from "../../settlement/deployment.ts";
import { type IFiatToken, IFiatToken__factory } from "../../typechain-types/index.ts";
import { environment } from "../config/environment.ts";
import { addressesOf, connectProtocol, type Protocol } from "../protocol/connectProtocol.ts";
import { CommandError } from "./CommandError.ts";
import type { Session } from "./session.ts";

// The deployment that a command works on, connected for reading.
export type Deployment = Protocol & {
  record: DeploymentRecord;
  addresses: ReturnType<typeof addressesOf>;
  usdc: IFiatToken;
};

export async function openDeployment({ network, chainId, provider }: Session): Promise<Deployment> {
  const record = readDeployment(network, environment.deploymentsFolder);
  if (BigInt(record.chainId) !== chainId) {
    throw new CommandError(
      `the deployment on ${network} was recorded on chain ${record.chainId} and the node is on chain ${chainId}: ` +
        "start the node with that chain, or deploy again",
    );
  }
  const addresses = addressesOf(record);
  if ((await provider.getCode(addresses.router)) === "0x") {
    throw new CommandError(
      `there is no contract at ${addresses.router}, where the record says that the router is: ` +
        "if the chain is the right one, run deploy again",
    );
  }
  return {
    record,
    addresses,
    ...connectProtocol(addresses, provider),
    usdc: IFiatToken__factory.connect(record.usdc, provider),
  };
}
