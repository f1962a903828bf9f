import type { Hex } from "viem";
import { SettlementError } from "../domain/errors.ts";
import { createLocalSigner } from "./localSigner.ts";
import type { Signer } from "./signer.ts";

const PRIVATE_KEY = /^0x[0-9a-f]{64}$/i;

// For development: a key in the clear, as the configuration found it in the environment.
export function createEnvSigner(privateKey: string): Signer {
  // What was given is not repeated: it may be a key with a slip of the pen.
  if (!PRIVATE_KEY.test(privateKey)) {
    throw new SettlementError("invalid_key", "the operator's key is not a private key; one is 0x and 64 hex digits");
  }
  try {
    return createLocalSigner(privateKey as Hex);
  } catch {
    throw new SettlementError("invalid_key", "the operator's key is zero or beyond the order of the curve");
  }
}
