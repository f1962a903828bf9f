import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { Ask } from "../../client/createClient.ts";
import { makeApiKey } from "../../marketplace/asWallet.ts";
import { type StateFolder, writeSecret } from "../state/stateFolder.ts";
import { type Cast, walletOf } from "./cast.ts";
import { YOU } from "./people.ts";

const schema = z.record(z.string(), z.string());

// The API key of each payer, by address: made once, with the signature of its wallet, and kept by its owner.
export async function apiKeysOf(paths: StateFolder, ask: Ask, { payers }: Cast): Promise<ReadonlyMap<string, string>> {
  const { apiKeys: path } = paths;
  const keys = new Map(Object.entries(existsSync(path) ? schema.parse(JSON.parse(readFileSync(path, "utf8"))) : {}));
  for (const { account, address, name } of payers) {
    if (keys.has(address)) continue;
    const key = await makeApiKey(ask, walletOf(account), name);
    keys.set(address, key);
    if (name === YOU) writeSecret(paths.apiKey, key);
    writeSecret(path, JSON.stringify(Object.fromEntries(keys), undefined, 2));
  }
  return keys;
}
