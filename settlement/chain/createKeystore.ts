import { writeFile } from "node:fs/promises";
import type { Address, Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { SettlementError } from "../domain/errors.ts";
import { encryptKeystore } from "./keystore.ts";

// Only its owner may read the file, though what is in it is encrypted.
const OWNER_ONLY = 0o600;

// Writes a key to a new encrypted file. A file that exists is left alone: it may be the only copy of another key.
export async function createKeystore(keystore: {
  path: string;
  password: string;
  privateKey: Hex;
}): Promise<{ address: Address }> {
  const { path, password, privateKey } = keystore;
  if (password === "") throw new SettlementError("invalid_key", "a keystore needs a password that is not empty");
  const json = await encryptKeystore(privateKey, password);
  try {
    await writeFile(path, `${json}\n`, { flag: "wx", mode: OWNER_ONLY, flush: true });
  } catch (cause) {
    throw new SettlementError("invalid_key", `the keystore ${path} could not be written; it must not exist yet`, {
      cause,
    });
  }
  return { address: privateKeyToAddress(privateKey) };
}
