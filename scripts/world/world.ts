import type { Provider, Signer, TransactionRequest } from "ethers";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import type { IFiatToken } from "../../typechain-types/index.ts";
import { NETWORKS } from "../config/networks.ts";
import type { Protocol } from "../protocol/connectProtocol.ts";
import type { Terms } from "../protocol/description.ts";
import type { Party } from "./parties.ts";

// A funded marketplace on a chain of one's own: the real USDC, the contracts as the deploy command puts them on chain,
// staked tools, payers with a spending cap, operators with a limit. It is planned, built by `buildWorld` and found again
// by `connectWorld`; npm start, the tests and the benchmarks differ in their plans and in the chain below.
export type World<A extends Account> = Protocol & {
  // Connected to Circle, who holds every role of the token.
  usdc: IFiatToken;
  parties: Record<Party, A>;
  circle: A;
  operators: readonly A[];
  payers: readonly A[];
  tools: readonly Tool<A>[];
};

export type Account = Signer & { readonly address: string };

export type Tool<A extends Account> = { toolId: ToolId; developer: A; price: bigint; stake: bigint };

export type Plan<A extends Account> = {
  parties: Record<Party, A>;
  circle: A;
  // The first is admitted by the deployment, the others by the admin.
  operators: readonly [A, ...A[]];
  operatorLimit: bigint;
  tools: readonly { developer: A; salt: string; price: bigint }[];
  // What each has and allows the router to take, in micro-USDC; a daily cap of 0 is none.
  payers: readonly { account: A; balance: bigint; allowance: bigint; dailyCap?: bigint }[];
  // What the platform pays with for payers who cannot; nothing unless told.
  insurance?: { balance: bigint; allowance: bigint };
};

// The chain below.
export type Host<A extends Account> = {
  provider: Provider & { send(method: string, params: unknown[]): Promise<unknown> };
  // Gives each enough to pay for gas.
  giveEther(accounts: readonly A[]): Promise<void>;
  // Sends the transactions of each, in their order, and returns when all of it is mined and has succeeded.
  sendAll(sendings: readonly Sending<A>[]): Promise<void>;
};

export type Sending<A extends Account> = { from: A; transactions: readonly Promise<TransactionRequest>[] };

// USDC is where Base has it, so that nothing but the network differs between a rehearsal and the real thing.
export const USDC_ADDRESS = NETWORKS.local.usdc;

export function termsOf<A extends Account>({ parties, operators, operatorLimit }: Plan<A>): Terms {
  const { deployer, admin, treasury, insurance, guardian, adjudicator } = parties;
  return {
    deployer: deployer.address,
    usdc: USDC_ADDRESS,
    parties: {
      admin: admin.address,
      treasury: treasury.address,
      insurance: insurance.address,
      guardian: guardian.address,
      adjudicator: adjudicator.address,
      operator: operators[0].address,
      operatorLimit,
    },
  };
}
