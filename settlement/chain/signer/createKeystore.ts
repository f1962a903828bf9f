import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Address, Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { SettlementError } from "../../domain/errors.ts";
import { encryptKeystore } from "./keystore.ts";

// Only its owner may read the file, though what is in it is encrypted.
const OWNER_ONLY = 0o600;
// Whoever copies the file can guess as fast as their machines allow, which is about ten times a second for each of them.
const MIN_PASSWORD_LENGTH = 12;

// Writes a key to a new encrypted file. A file that exists is left alone: it may be the only copy of another key.
export async function createKeystore(keystore: {
  path: string;
  password: string;
  privateKey: Hex;
}): Promise<{ address: Address }> {
  const { path, password, privateKey } = keystore;
  if (password.length < MIN_PASSWORD_LENGTH) {
    throw new SettlementError(
      "invalid_key",
      `SETTLEMENT_KEYSTORE_PASSWORD must have ${MIN_PASSWORD_LENGTH} characters or more; openssl rand -hex 32 makes one`,
    );
  }
  const json = await encryptKeystore(privateKey, password);
  try {
    await writeFile(path, `${json}\n`, { flag: "wx", mode: OWNER_ONLY, flush: true });
  } catch (cause) {
    throw new SettlementError("invalid_key", `the keystore ${path} cannot be written: ${reasonOf(cause, path)}`, {
      cause,
    });
  }
  return { address: privateKeyToAddress(privateKey) };
}

function reasonOf(cause: unknown, path: string): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "EEXIST") return "it exists and may be the only copy of a key; name a new file";
  if (code === "ENOENT") return `there is no folder ${dirname(path)}; make it, or name a file elsewhere`;
  return `this user may not make it there (${code}); name a file elsewhere`;
}
