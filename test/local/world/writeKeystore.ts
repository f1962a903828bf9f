import { writeFile } from "node:fs/promises";
import type { Hex } from "viem";
import { encryptKeystore } from "../../../settlement/chain/signer/keystore.ts";

// So that opening it takes a moment and not a third of a second, which every process of a test would spend.
const WEAK_SCRYPT = { n: 1024, r: 8, p: 1 };

export async function writeKeystore(path: string, privateKey: Hex, password: string): Promise<void> {
  await writeFile(path, await encryptKeystore(privateKey, password, WEAK_SCRYPT));
}
