import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { parseAddress } from "../command/arguments.ts";
import type { Deployment } from "../command/openDeployment.ts";
import type { Session } from "../command/session.ts";

export type Bond = {
  amount: bigint;
  leaving: bigint;
  readyAt: bigint;
  required: bigint;
  bonded: boolean;
  owner: string;
};

export const usd = (amount: bigint) => formatUsd(microUsdc(amount));

// The operator that is meant: the one who sends, unless another is named.
export async function operatorOf(session: Session, named: string | undefined): Promise<string> {
  return named === undefined ? (await session.signer()).address : parseAddress("--operator", named);
}

export async function readBond({ bonds, router }: Deployment, operator: string): Promise<Bond> {
  const [{ amount, leaving, readyAt }, { limit, bonded }, owner] = await Promise.all([
    bonds.bondOf(operator),
    router.operatorLimit(operator),
    bonds.ownerOf(operator),
  ]);
  return { amount, leaving, readyAt, required: await bonds.requiredBond(limit), bonded, owner };
}
