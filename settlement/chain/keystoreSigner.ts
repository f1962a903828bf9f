import { readFile } from "node:fs/promises";
import { SettlementError } from "../domain/errors.ts";
import { decryptKeystore } from "./keystore.ts";
import { createLocalSigner } from "./localSigner.ts";
import type { Signer } from "./signer.ts";

// Opens an encrypted key file and signs with what is in it.
export async function createKeystoreSigner(keystore: { path: string; password: string }): Promise<Signer> {
  let json: string;
  try {
    json = await readFile(keystore.path, "utf8");
  } catch (cause) {
    throw new SettlementError("invalid_key", `the keystore ${keystore.path} cannot be read`, { cause });
  }
  return createLocalSigner(await decryptKeystore(json, keystore.password));
}
