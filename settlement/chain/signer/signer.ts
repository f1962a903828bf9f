import { readFile } from "node:fs/promises";
import { type Address, type Hex, keccak256, type PrivateKeyAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { SettlementError } from "../../domain/errors.ts";
import { decryptKeystore } from "./keystore.ts";

export type TransactionToSign = {
  chainId: number;
  nonce: number;
  to: Address;
  calldata: Hex;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
};

// Whatever holds an operator's key: a keystore file, the environment, or a key management service.
export type Signer = {
  address: Address;
  sign(transaction: TransactionToSign): Promise<{ raw: Hex; txHash: Hex }>;
};

const PRIVATE_KEY = /^0x[0-9a-f]{64}$/i;

// Signs in this process. The same transaction always gets the same bytes: signatures are deterministic (RFC 6979).
export function createSigner(privateKey: string): Signer {
  const account = accountOf(privateKey);
  return {
    address: account.address,
    async sign({ calldata, gasLimit, ...transaction }) {
      const raw = await account.signTransaction({ ...transaction, type: "eip1559", data: calldata, gas: gasLimit });
      return { raw, txHash: keccak256(raw) };
    },
  };
}

// What was given is not repeated in an error: it may be a key with a slip of the pen.
function accountOf(privateKey: string): PrivateKeyAccount {
  if (!PRIVATE_KEY.test(privateKey)) {
    throw new SettlementError("invalid_key", "the operator's key is not a private key; one is 0x and 64 hex digits");
  }
  try {
    return privateKeyToAccount(privateKey as Hex);
  } catch {
    throw new SettlementError("invalid_key", "the operator's key is zero or beyond the order of the curve");
  }
}

// Opens an encrypted key file and signs with what is in it.
export async function openKeystoreSigner({ path, password }: { path: string; password: string }): Promise<Signer> {
  let json: string;
  try {
    json = await readFile(path, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw new SettlementError("invalid_key", `SETTLEMENT_KEYSTORES names ${path}, which cannot be read${reason}`, {
      cause,
    });
  }
  try {
    return createSigner(await decryptKeystore(json, password));
  } catch (cause) {
    if (!(cause instanceof SettlementError)) throw cause;
    throw new SettlementError("invalid_key", `SETTLEMENT_KEYSTORES names ${path}: ${cause.message}`, { cause });
  }
}

// A signer behind a network may never answer. Its nonce is saved by then, so that the same transaction is signed later.
export function withTimeout(signer: Signer, timeoutMs: number): Signer {
  return {
    address: signer.address,
    async sign(transaction) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        const reason = `the signer of ${signer.address} did not answer within ${timeoutMs} ms`;
        timer = setTimeout(
          () => reject(new SettlementError("signer_unavailable", reason, { retryable: true })),
          timeoutMs,
        );
      });
      try {
        return await Promise.race([signer.sign(transaction), late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
