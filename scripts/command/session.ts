import type { HardhatEthersProvider, HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { isNetworkName, NETWORKS, type Network, type NetworkName } from "../config/networks.ts";
import { parseAddress } from "./arguments.ts";
import { CommandError } from "./CommandError.ts";
import type { Output } from "./output.ts";

export type CommonArguments = {
  json: boolean;
  yes?: boolean;
  from?: string | undefined;
  safe?: boolean;
};

// What a command works with once the network has answered and is the one that was meant.
export type Session = {
  hre: HardhatRuntimeEnvironment;
  network: NetworkName;
  settings: Network;
  chainId: bigint;
  // Reads only: it needs no key, so nobody is asked for a password in order to look.
  provider: HardhatEthersProvider;
  output: Output;
  yes: boolean;
  safe: boolean;
  from: string | undefined;
  // The hashes of what was sent so far, and whether a transaction has been handed to the node that has not answered yet.
  sent: string[];
  sending: boolean;
  signer(): Promise<HardhatEthersSigner>;
};

export async function openSession(
  hre: HardhatRuntimeEnvironment,
  args: CommonArguments,
  output: Output,
): Promise<Session> {
  const network = hre.globalOptions.network ?? "";
  if (!isNetworkName(network)) {
    throw new CommandError(
      `no network of ours was named: add --network ${Object.keys(NETWORKS).join(" or --network ")}`,
    );
  }
  const { ethers } = await hre.network.create({ network, override: { accounts: "remote" } });
  const settings: Network = NETWORKS[network];
  const chainId = BigInt(await ethers.provider.send("eth_chainId", []));
  if (!settings.chainIds.includes(chainId)) {
    throw new CommandError(
      `the node behind --network ${network} is on chain ${chainId}, not ${settings.chainIds.join(" or ")}: ` +
        "correct its RPC address or choose another network",
    );
  }
  const from = args.from === undefined ? undefined : parseAddress("--from", args.from);
  let signer: Promise<HardhatEthersSigner> | undefined;
  return {
    hre,
    network,
    settings,
    chainId,
    provider: ethers.provider,
    output,
    yes: args.yes ?? false,
    safe: args.safe ?? false,
    from,
    sent: [],
    sending: false,
    signer: () => {
      signer ??= openSigner(hre, network, from);
      return signer;
    },
  };
}

async function openSigner(
  hre: HardhatRuntimeEnvironment,
  network: NetworkName,
  from: string | undefined,
): Promise<HardhatEthersSigner> {
  const { ethers } = await hre.network.create(network);
  const signers = await ethers.getSigners();
  const signer = from === undefined ? signers[0] : signers.find(({ address }) => address === from);
  if (signer) return signer;
  throw new CommandError(
    from === undefined
      ? `the node behind --network ${network} has no accounts: start one that has, such as anvil`
      : `no key for ${from} is at hand on ${network}, only for ${signers.map(({ address }) => address).join(", ")}: ` +
          "choose one of these with --from, or put the key into the keystore",
  );
}

// The chain's own time, by which all its delays are counted.
export async function timeOf({ provider }: Session): Promise<bigint> {
  const block = await provider.getBlock("latest");
  return BigInt(block?.timestamp ?? 0);
}

// The account that a command looks at: the one named, or else the caller's own.
export const accountOf = async (session: Session, named: string | undefined): Promise<string> =>
  named === undefined ? (await session.signer()).address : parseAddress("--account", named);
