import { createHash } from "node:crypto";
import { CONTRACT_KEYS, CONTRACTS } from "../../protocol/description.ts";

// The code that is deployed: a chain with other code needs another service.
export function fingerprint(): string {
  const hash = createHash("sha256");
  for (const key of CONTRACT_KEYS) hash.update(CONTRACTS[key].factory.bytecode);
  return hash.digest("hex");
}
