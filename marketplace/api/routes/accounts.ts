import type { Address } from "viem";
import { z } from "zod";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import * as field from "../../../settlement/daemon/http/fields.ts";
import { formatUsd, microUsdc, parseUsd } from "../../../settlement/domain/money.ts";
import { createApiKeySecret, hashOfSecret } from "../../../settlement/domain/text/apiKeySecret.ts";
import { spendableSchema } from "../../../settlement/views/payer.ts";
import * as shape from "../../../settlement/views/shapes.ts";
import { type ApiKey, insertApiKey, listApiKeys, MAX_KEYS, revokeApiKey } from "../../accounts/apiKeys.ts";
import { createLoginSecret, deleteLogin, insertLogin } from "../../accounts/logins.ts";
import { openAccount } from "../../accounts/openAccount.ts";
import {
  addFavorite,
  linkWallet,
  MAX_FAVORITES,
  MAX_LINKED_WALLETS,
  readPreferences,
  removeFavorite,
  setFavoritesOnly,
  setMaxQueryCost,
  unlinkWallet,
} from "../../accounts/preferences.ts";
import { linkStatement, SIGN_IN } from "../../accounts/signIn.ts";
import { signed, toolId } from "../fields.ts";
import { accountOf, route, type Services } from "../route.ts";

const LOGIN_MS = 60 * 60 * 1_000;
const MIN_FUNDS = microUsdc(1_000_000n);

const keySchema = z
  .object({ id: z.string(), name: z.string(), createdAt: shape.time, revokedAt: shape.time.nullable() })
  .meta({ id: "ApiKey" });

const keyView = ({ id, name, createdAtMs, revokedAtMs }: ApiKey): z.infer<typeof keySchema> => ({
  id,
  name,
  createdAt: shape.timeOf(createdAtMs),
  revokedAt: shape.timeOrNull(revokedAtMs),
});

const accountSchema = z
  .object({
    wallet: shape.address,
    favoritesOnly: z.boolean(),
    favorites: z.array(shape.toolId),
    maxQueryCostUsd: shape.usd.nullable(),
    linkedWallets: z.array(z.object({ wallet: shape.address, linkedAt: shape.time })),
  })
  .meta({ id: "Account" });

const challengeSchema = z.object({ message: z.string(), expiresAt: shape.time });

// Keys are made by whoever holds the wallet, without asking an operator.
export const accountRoutes = [
  route({
    method: "POST",
    path: "/api/v1/auth/challenge",
    access: "anybody",
    summary: "The message of Sign-In with Ethereum that a wallet signs to log in, or to be linked to an account",
    body: z.object({ wallet: field.address, linkTo: field.address.optional() }),
    answer: challengeSchema,
    async handle({ body: { wallet, linkTo }, services: { signIn } }) {
      const statement = linkTo === undefined ? SIGN_IN : linkStatement(linkTo);
      const { message, expiresAtMs } = await signIn.challenge(wallet, statement);
      return { body: { message, expiresAt: shape.timeOf(expiresAtMs) } };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/auth/login",
    access: "anybody",
    summary: "Log in with the signed message; the login is for making and revoking keys, and ends after an hour",
    body: z.object(signed),
    answer: z.object({ wallet: shape.address, login: z.string(), expiresAt: shape.time }),
    async handle({ body, services, log }) {
      const { signIn, store, clock } = services;
      const wallet = await signIn.verify(body, SIGN_IN);
      await enter(services, wallet);
      const login = createLoginSecret();
      const nowMs = clock.nowMs();
      await store.shared((sql) => insertLogin(sql, login, wallet, nowMs + LOGIN_MS, nowMs));
      log.info({ event: "logged_in", account: wallet }, "logged in");
      return { body: { wallet, login, expiresAt: shape.timeOf(nowMs + LOGIN_MS) } };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/auth/logout",
    access: "login",
    summary: "End a login before its time",
    body: field.nothing,
    answer: z.object({ loggedOut: z.literal(true) }),
    async handle({ request, services: { store } }) {
      const secret = request.headers.authorization?.split(/ +/)[1] ?? "";
      await store.shared((sql) => deleteLogin(sql, secret));
      return { body: { loggedOut: true as const } };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/keys",
    access: "login",
    summary: "Make an API key; it is shown in this answer and never again",
    body: z.object({ name: field.label }),
    answer: keySchema.extend({ key: z.string() }),
    status: 201,
    errors: ["conflict", "forbidden"],
    async handle({ body: { name }, caller, newId, services: { store, clock }, log }) {
      const account = accountOf(caller);
      const secret = createApiKeySecret();
      const key = { id: `key_${newId()}`, hash: hashOfSecret(secret), account, name };
      const created = await store.alone((sql) => insertApiKey(sql, key, clock.nowMs()));
      if (created === "too_many") {
        throw new ApiError("conflict", `this account has ${MAX_KEYS} keys; revoke one of them first`);
      }
      log.info({ event: "api_key_created", apiKey: key.id, account }, "API key created");
      return { body: { ...keyView(created), key: secret } };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/keys",
    access: "login",
    summary: "The account's API keys, oldest first; never the keys themselves",
    answer: z.object({ keys: z.array(keySchema) }),
    errors: ["forbidden"],
    async handle({ caller, services: { store } }) {
      return { body: { keys: (await listApiKeys(store.read, accountOf(caller))).map(keyView) } };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/v1/keys",
    access: "login",
    summary: "Revoke an API key, at once and permanently",
    query: z.object({ id: field.name }),
    answer: keySchema,
    errors: ["not_found", "forbidden"],
    async handle({ query: { id }, caller, services: { store, clock }, log }) {
      const account = accountOf(caller);
      const revoked = await store.shared((sql) => revokeApiKey(sql, account, id, clock.nowMs()));
      if (revoked === null) throw new ApiError("not_found", `there is no API key ${id}`);
      log.info({ event: "api_key_revoked", apiKey: id, account }, "API key revoked");
      return { body: keyView(revoked) };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/account",
    access: "account",
    summary: "The account behind a key: its wallet, favourites and linked wallets",
    answer: accountSchema,
    async handle({ caller, services }) {
      return { body: await accountView(services, accountOf(caller)) };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/account/funds",
    access: "account",
    summary:
      "What the account's wallet could be charged now, and why no more: balance, caps, what it paid in advance, consent",
    answer: spendableSchema,
    async handle({ caller, services: { budgets } }) {
      return { body: await budgets.readFunds(accountOf(caller)) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/v1/account",
    access: "account",
    summary: "Whether searches look among favourites alone, and what one answer may cost, unless they say otherwise",
    body: z
      .object({ favoritesOnly: z.boolean("must be true or false"), maxQueryCostUsd: field.usd.nullable() })
      .partial()
      .refine(
        (changes) => Object.values(changes).some((value) => value !== undefined),
        "favoritesOnly or maxQueryCostUsd must be given",
      ),
    example: { favoritesOnly: true },
    answer: accountSchema,
    async handle({ body: { favoritesOnly, maxQueryCostUsd }, caller, services }) {
      const account = accountOf(caller);
      await services.store.shared(async (sql) => {
        if (favoritesOnly !== undefined) await setFavoritesOnly(sql, account, favoritesOnly);
        if (maxQueryCostUsd !== undefined) await setMaxQueryCost(sql, account, maxQueryCostUsd);
      });
      return { body: await accountView(services, account) };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/favorites",
    access: "account",
    summary: "Add a tool to the account's favourites",
    body: z.object({ toolId }),
    answer: accountSchema,
    errors: ["conflict"],
    async handle({ body, caller, services }) {
      const account = accountOf(caller);
      if (!(await services.store.shared((sql) => addFavorite(sql, account, body.toolId)))) {
        throw new ApiError("conflict", `this account has ${MAX_FAVORITES} favourites; remove one of them first`);
      }
      return { body: await accountView(services, account) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/v1/favorites",
    access: "account",
    summary: "Take a tool out of the account's favourites",
    query: z.object({ toolId }),
    answer: accountSchema,
    async handle({ query, caller, services }) {
      const account = accountOf(caller);
      await services.store.shared((sql) => removeFavorite(sql, account, query.toolId));
      return { body: await accountView(services, account) };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/wallets",
    access: "account",
    summary: "Link a wallet, which has signed a message that names the account; tools may then see its public data",
    body: z.object(signed),
    answer: accountSchema,
    errors: ["conflict"],
    async handle({ body, caller, services }) {
      const { store, signIn, clock } = services;
      const account = accountOf(caller);
      const wallet = await signIn.verify(body, linkStatement(account));
      if (!(await store.shared((sql) => linkWallet(sql, account, wallet, clock.nowMs())))) {
        throw new ApiError(
          "conflict",
          `this account has ${MAX_LINKED_WALLETS} linked wallets; remove one of them first`,
        );
      }
      return { body: await accountView(services, account) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/v1/wallets",
    access: "account",
    summary: "Take the link to a wallet back",
    query: z.object({ wallet: field.address }),
    answer: accountSchema,
    async handle({ query: { wallet }, caller, services }) {
      const account = accountOf(caller);
      await services.store.shared((sql) => unlinkWallet(sql, account, wallet));
      return { body: await accountView(services, account) };
    },
  }),
];

// Once there are as many accounts as may be that were never charged, only those are new that could be.
async function enter({ store, clock, budgets, maxFreeAccounts }: Services, wallet: Address): Promise<void> {
  const open = (maxFree: number) => store.alone((sql) => openAccount(sql, wallet, maxFree, clock.nowMs()));
  if (await open(maxFreeAccounts)) return;
  const { availableUsd } = await budgets.readFunds(wallet);
  if (parseUsd(availableUsd) >= MIN_FUNDS) await open(Number.POSITIVE_INFINITY);
  else {
    throw new ApiError(
      "rate_limited",
      `there is room for new accounts at present whose wallets could be charged ${formatUsd(MIN_FUNDS)}; set a cap and sign in again`,
      { retryAfterMs: LOGIN_MS },
    );
  }
}

async function accountView({ store }: Services, account: Address) {
  const { favoritesOnly, favorites, maxQueryCost, linkedWallets } = await readPreferences(store.read, account);
  return {
    wallet: account,
    favoritesOnly,
    maxQueryCostUsd: maxQueryCost === null ? null : formatUsd(maxQueryCost),
    favorites: [...favorites],
    linkedWallets: linkedWallets.map(({ wallet, linkedAtMs }) => ({ wallet, linkedAt: shape.timeOf(linkedAtMs) })),
  };
}
