import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { Ask } from "../client.ts";
import { writeSecret } from "../stateFolder.ts";
import type { World } from "./world.ts";

const schema = z.record(z.string(), z.string());

// The API key of each payer, by address: made once, like a customer's, and kept by its owner.
export async function apiKeysOf(path: string, ask: Ask, { payers }: World): Promise<Map<string, string>> {
  const keys = new Map(Object.entries(existsSync(path) ? schema.parse(JSON.parse(readFileSync(path, "utf8"))) : {}));
  for (const { address, name } of payers) {
    if (keys.has(address)) continue;
    const { body } = await ask("POST", "/v1/api-keys", { payer: address, label: name });
    keys.set(address, String(body.key));
    writeSecret(path, JSON.stringify(Object.fromEntries(keys), undefined, 2));
  }
  return keys;
}
