import { z } from "zod";
import { createApiKeySecret, hashOfSecret } from "../../apiKeySecret.ts";
import { ApiError } from "../../errors.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";
import { apiKeyView } from "../../views.ts";

export const apiKeyRoutes = [
  route({
    method: "POST",
    path: "/v1/api-keys",
    access: "platform",
    summary: "Make an API key for a payer; the key is shown in this answer and never again",
    body: z.strictObject({ payer: field.address, label: field.label }),
    async handle({ body: { payer, label }, newId, services: { ledger, clock }, log }) {
      const secret = createApiKeySecret();
      const key = { id: `key_${newId()}`, hash: hashOfSecret(secret), payer, label };
      const created = await ledger.createApiKey(key, clock.nowMs());
      if (created.kind === "conflict") throw new ApiError("conflict", `There is another API key ${key.id}.`);
      const view = apiKeyView(created.apiKey);
      log.info({ event: "api_key_created", apiKey: key.id, payer }, "API key created");
      // Nobody has it any more if the first answer was lost: it is not kept, so that it cannot be read anywhere.
      const stored = { ...view, key: null };
      return { status: 201, body: created.kind === "created" ? { ...view, key: secret } : stored, stored };
    },
  }),
  route({
    method: "GET",
    path: "/v1/api-keys",
    access: "platform",
    summary: "API keys of all payers or of one, oldest first; never the keys themselves",
    query: z.strictObject({ payer: field.address.optional(), limit: field.limit, offset: field.offset }),
    async handle({ query: { payer = null, limit, offset }, services: { ledger } }) {
      return { body: { apiKeys: (await ledger.apiKeys(payer, limit, offset)).map(apiKeyView) } };
    },
  }),
  route({
    method: "POST",
    path: "/v1/api-keys/:keyId/revoke",
    access: "platform",
    summary: "Revoke an API key, at once and for ever",
    params: z.object({ keyId: field.name }),
    body: z.strictObject({}).optional(),
    async handle({ params: { keyId }, services: { ledger, clock }, log }) {
      const revoked = await ledger.revokeApiKey(keyId, clock.nowMs());
      if (revoked === null) throw new ApiError("not_found", `There is no API key ${keyId}.`);
      log.info({ event: "api_key_revoked", apiKey: keyId, payer: revoked.payer }, "API key revoked");
      return { body: apiKeyView(revoked) };
    },
  }),
];
