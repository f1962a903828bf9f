import { randomUUID } from "node:crypto";
import { isAddress } from "viem";
import { readConfig } from "../../config.ts";
import { createApiKeySecret, hashOfSecret } from "../../daemon/apiKeySecret.ts";
import { apiKeyView } from "../../daemon/views.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { openLedger } from "../../ledger/openLedger.ts";
import { type Command, type Output, type Result, UsageError } from "../command.ts";

const MAX_LISTED = 10_000;

export const keys: Command = {
  name: "keys",
  usage: "create <payer> [--label <text>] | list [<payer>] | revoke <key id>",
  help: ["create shows the key once; the ledger keeps its hash only.", "revoke works at once and for ever."],
  options: { label: { type: "string" } },
  positionals: { min: 1, max: 2 },
  async run({ positionals: [verb, subject], values, output }) {
    if (verb !== "create" && verb !== "list" && verb !== "revoke") {
      throw new UsageError("Say create, list or revoke.");
    }
    if (verb !== "list" && subject === undefined) {
      throw new UsageError(verb === "create" ? "Name the payer's address." : "Name the id of the key.");
    }
    if (verb !== "revoke" && subject !== undefined && !isAddress(subject, { strict: false })) {
      throw new UsageError("A payer is an address, 0x and 40 digits.");
    }
    const ledger = await openLedger(readConfig(output.environment).ledger);
    try {
      if (verb === "create")
        return await create(ledger, subject as `0x${string}`, String(values.label ?? "agent"), output);
      if (verb === "list") return await list(ledger, subject as `0x${string}` | undefined, output);
      return await revoke(ledger, subject ?? "", output);
    } finally {
      await ledger.close();
    }
  },
};

async function create(ledger: Ledger, payer: `0x${string}`, label: string, output: Output): Promise<Result> {
  const secret = createApiKeySecret();
  const created = await ledger.createApiKey(
    { id: `key_${randomUUID()}`, hash: hashOfSecret(secret), payer, label },
    Date.now(),
  );
  if (created.kind === "conflict") throw new SettlementError("invalid_input", "the key could not be made; try again");
  output.say(`${created.apiKey.id} of ${created.apiKey.payer}`);
  output.say(`${secret}   it is not shown again`);
  return { exitCode: 0, value: { ...apiKeyView(created.apiKey), key: secret } };
}

async function list(ledger: Ledger, payer: `0x${string}` | undefined, output: Output): Promise<Result> {
  const found = (await ledger.apiKeys(payer ?? null, MAX_LISTED, 0)).map(apiKeyView);
  for (const { keyId, payer: owner, label, createdAt, revokedAt } of found) {
    output.say(`${keyId}  ${owner}  ${createdAt}  ${revokedAt === null ? "active" : `revoked ${revokedAt}`}  ${label}`);
  }
  output.say(`${found.length} keys`);
  return { exitCode: 0, value: { apiKeys: found } };
}

async function revoke(ledger: Ledger, id: string, output: Output): Promise<Result> {
  const revoked = await ledger.revokeApiKey(id, Date.now());
  if (revoked === null) throw new SettlementError("invalid_input", `there is no API key ${id}`);
  output.say(`${id} is revoked`);
  return { exitCode: 0, value: apiKeyView(revoked) };
}
