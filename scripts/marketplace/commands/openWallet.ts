import { getAddress } from "viem";
import { createSiweMessage, parseSiweMessage } from "viem/siwe";
import { CommandError } from "../../command/CommandError.ts";
import { confirm } from "../../command/confirm.ts";
import { printable } from "../../command/printable.ts";
import type { Session } from "../../command/session.ts";
import type { Wallet } from "../asWallet.ts";
import type { Marketplace } from "./openMarketplace.ts";

// The account that signs, and only this: a message of Sign-In with Ethereum for the marketplace that was named, on the network
// that was named, that says what the command is for. Otherwise a site in between could have a signature made that is good
// elsewhere, or for something else.
export async function openWallet(session: Session, { url }: Marketplace, statement: string): Promise<Wallet> {
  const signer = await session.signer();
  const { address } = signer;
  return {
    address,
    async signMessage(message) {
      requireMeant(message, { url, chainId: Number(session.chainId), address, statement });
      session.output.say(`${url.host} asks ${address} to sign:`);
      session.output.say(`  ${statement}`);
      await confirm(session, "Sign?");
      return signer.signMessage(message);
    },
  };
}

type Meant = { url: URL; chainId: number; address: string; statement: string };

export function requireMeant(message: string, { url, chainId, address, statement }: Meant): void {
  const parsed = parseSiweMessage(message);
  const { uri = "", nonce, issuedAt, expirationTime } = parsed;
  if (parsed.domain !== url.host || !URL.canParse(uri) || new URL(uri).origin !== url.origin) {
    throw new CommandError(
      `what answers at ${url.origin} asks for a signature for ${printable(parsed.domain ?? "nobody")}: ` +
        "give --marketplace the address that the marketplace itself has on the web",
    );
  }
  if (parsed.chainId !== chainId) {
    throw new CommandError(
      `the marketplace is on chain ${parsed.chainId ?? "?"} and --network on chain ${chainId}: choose its --network`,
    );
  }
  const isWhole = nonce !== undefined && issuedAt !== undefined && expirationTime !== undefined;
  const meant = { domain: url.host, address: getAddress(address), statement, uri, version: "1", chainId } as const;
  // Compared as a whole, so that nothing is signed that this side has not read.
  if (isWhole && parsed.statement === statement && isSame(message, { ...meant, nonce, issuedAt, expirationTime }))
    return;
  throw new CommandError(
    `the marketplace at ${url.origin} asks for another signature than "${statement}" of ${address}: do not trust it`,
  );
}

function isSame(message: string, fields: Parameters<typeof createSiweMessage>[0]): boolean {
  try {
    return createSiweMessage(fields) === message;
  } catch {
    return false;
  }
}
