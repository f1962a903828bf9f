import { readFileSync } from "node:fs";
import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { TypedDataEncoder } from "ethers";
import { z } from "zod";
import type { MicroUsdc } from "../../settlement/domain/money.ts";
import { CommandError } from "../command/CommandError.ts";
import { requireFile, requireWritable } from "../command/files.ts";
import type { Deployment } from "../command/openDeployment.ts";
import { type Session, timeOf } from "../command/session.ts";

const VALID_SECONDS = 24n * 60n * 60n;

const PERMIT_TYPES = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
};

const permitSchema = z.object({
  chainId: z.int(),
  token: z.string(),
  owner: z.string(),
  spender: z.string(),
  value: z.string().regex(/^[0-9]+$/),
  deadline: z.string().regex(/^[0-9]+$/),
  signature: z.string().regex(/^0x[0-9a-f]{130}$/),
});

// A spending cap that its payer has signed and that anybody may send to the token.
export type Permit = z.infer<typeof permitSchema>;

export async function signPermit(
  session: Session,
  { usdc, addresses, record }: Deployment,
  signer: HardhatEthersSigner,
  value: MicroUsdc,
): Promise<Permit> {
  const [name, version, separator, nonce, now] = await Promise.all([
    usdc.name(),
    usdc.version(),
    usdc.DOMAIN_SEPARATOR(),
    usdc.nonces(signer.address),
    timeOf(session),
  ]);
  const domain = { name, version, chainId: session.chainId, verifyingContract: record.usdc };
  // A token that signs under another domain would refuse the permit, and say so only when somebody sends it.
  if (TypedDataEncoder.hashDomain(domain) !== separator) {
    throw new CommandError(`the token at ${record.usdc} does not take permits as USDC does: use cap without --permit`);
  }
  const deadline = now + VALID_SECONDS;
  const message = { owner: signer.address, spender: addresses.router, value, nonce, deadline };
  return {
    chainId: Number(session.chainId),
    token: record.usdc,
    owner: signer.address,
    spender: addresses.router,
    value: value.toString(),
    deadline: deadline.toString(),
    signature: await signer.signTypedData(domain, PERMIT_TYPES, message),
  };
}

export function readPermit(path: string): Permit {
  requireFile(path, `name the one that the payer has made with cap --set 50 --permit ${path}`);
  const permit = permitIn(path);
  if (permit === null) {
    throw new CommandError(`the file ${path} is not a permit: make one with cap --set 50 --permit <new file>`);
  }
  return permit;
}

// A permit may take the place of another one, and of nothing else.
export const requirePermitPath = (path: string): void =>
  requireWritable("--permit", path, (other) => permitIn(other) !== null);

function permitIn(path: string): Permit | null {
  try {
    return permitSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null;
  }
}
