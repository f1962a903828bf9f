import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { logIn, makeKey, openMarketplace } from "./openMarketplace.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const TEN_MINUTES_MS = 600_000;
const AN_HOUR_MS = 3_600_000;

describe.each(backends)("accounts, on $name", ({ create }) => {
  let database: Store;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  const contract = newWallet().address;
  beforeAll(async () => {
    database = await create();
    market = await openMarketplace(database, {
      verifyContract: async ({ address, signature }) => address === contract && signature === "0x1271",
    });
  });
  afterAll(async () => {
    await market.close();
    await database.remove();
  });

  const challengeFor = async (wallet: string, linkTo?: string) =>
    (await market.ask("POST", "/api/v1/auth/challenge", { wallet, linkTo })).body.message as string;
  const login = (message: string, signature: string) =>
    market.ask("POST", "/api/v1/auth/login", { message, signature });

  it("whoever holds a wallet makes, lists and revokes its keys, and a key is shown once", async () => {
    const wallet = newWallet();
    const secret = await logIn(market.ask, wallet);
    const made = await market.ask("POST", "/api/v1/keys", { name: "agent" }, secret);
    expect(made).toMatchObject({ status: 201, body: { name: "agent", revokedAt: null } });
    const { id, key } = made.body as { id: string; key: string };
    expect(key).toMatch(/^sk_live_/);
    const listed = await market.ask("GET", "/api/v1/keys", undefined, secret);
    expect(listed.body).toEqual({ keys: [expect.objectContaining({ id, name: "agent" })] });
    expect(JSON.stringify(listed.body)).not.toContain(key);

    const account = await market.ask("GET", "/api/v1/account", undefined, key);
    expect(account.body).toMatchObject({ wallet: wallet.address.toLowerCase(), favorites: [], linkedWallets: [] });
    expect(await market.ask("DELETE", `/api/v1/keys?id=${id}`, undefined, secret)).toMatchObject({ status: 200 });
    expect(await market.ask("GET", "/api/v1/account", undefined, key)).toMatchObject({
      status: 401,
      body: { code: "unauthorized", error: "This API key was revoked." },
    });
  });

  it("a signature logs in once, even if it comes twice at the same time", async () => {
    const wallet = newWallet();
    const message = await challengeFor(wallet.address);
    const signature = await wallet.signMessage({ message });
    const answers = await Promise.all(Array.from({ length: 5 }, () => login(message, signature)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    expect((await login(message, signature)).body.error).toMatch(/nonce is unknown, used or too old/);
  });

  it.each([
    ["another site", (message: string) => message.replace(/^market\.example/, "markets.example")],
    ["another URI", (message: string) => message.replace("URI: https://market.example", "URI: https://evil.example")],
    ["another chain", (message: string) => message.replace("Chain ID: 8453", "Chain ID: 1")],
    ["another purpose", (message: string) => message.replace("Sign in to", "Give everything to")],
    ["a nonce of one's own", (message: string) => message.replace(/Nonce: .*/, `Nonce: ${"a".repeat(20)}`)],
    ["no message at all", () => "hello"],
    ["something else besides", (message: string) => message.replace("\n\nURI:", "\n\nPay for all of it.\n\nURI:")],
    ["what stands below it", (message: string) => `${message}\nPay for all of it.`],
    ["a resource", (message: string) => `${message}\nResources:\n- https://evil.example`],
    ["ever", (message: string) => message.replace(/Expiration Time: .*/, "Expiration Time: never")],
    ["longer", (message: string) => message.replace(/\nExpiration Time: .*/, "")],
    ["a chain in other digits", (message: string) => message.replace("Chain ID: 8453", "Chain ID: 08453")],
  ])("a message for %s does not log in, though its wallet has signed it", async (_, change) => {
    const wallet = newWallet();
    const message = change(await challengeFor(wallet.address));
    expect(await login(message, await wallet.signMessage({ message }))).toMatchObject({ status: 401 });
  });

  it("nobody logs in for another wallet, and one nonce is one guess", async () => {
    const [victim, thief] = [newWallet(), newWallet()];
    const message = await challengeFor(victim.address);
    expect(await login(message, await thief.signMessage({ message }))).toMatchObject({ status: 401 });
    expect(await login(message, await victim.signMessage({ message }))).toMatchObject({ status: 401 });
  });

  it("an account that is a contract logs in if the contract stands by the signature", async () => {
    const message = await challengeFor(contract);
    expect(await login(message, "0x1271")).toMatchObject({ status: 200, body: { wallet: contract.toLowerCase() } });
    expect(await login(await challengeFor(contract), "0x1272")).toMatchObject({ status: 401 });
  });

  it("a message expires after ten minutes, and a login after an hour", async () => {
    const wallet = newWallet();
    const message = await challengeFor(wallet.address);
    const signature = await wallet.signMessage({ message });
    const secret = await logIn(market.ask, wallet);
    market.pass(TEN_MINUTES_MS);
    expect((await login(message, signature)).body.error).toBe("The message has expired.");
    expect(await market.ask("GET", "/api/v1/keys", undefined, secret)).toMatchObject({ status: 200 });
    market.pass(AN_HOUR_MS);
    expect(await market.ask("GET", "/api/v1/keys", undefined, secret)).toMatchObject({ status: 401 });
  });

  it("a key is the same key with spaces around it, and the scheme in any case", async () => {
    const key = await makeKey(market.ask, newWallet());
    for (const authorization of [`Bearer ${key}`, `bearer  ${key}`, `Bearer ${key} `, `BEARER   ${key}  `]) {
      const { statusCode } = await market.app.inject({ url: "/api/v1/account", headers: { authorization } });
      expect([authorization, statusCode]).toEqual([authorization, 200]);
    }
    for (const authorization of [`Bearer${key}`, `Bearer ${key}x`, `Bearer ${key} x`, `Basic ${key}`, key]) {
      const { statusCode } = await market.app.inject({ url: "/api/v1/account", headers: { authorization } });
      expect([authorization, statusCode]).toEqual([authorization, 401]);
    }
  });

  it("an account that makes and revokes keys all day is shown a hundred of them", async () => {
    const login = await logIn(market.ask, newWallet());
    for (let made = 0; made < 105; made += 1) {
      const { body } = await market.ask("POST", "/api/v1/keys", { name: `key ${made}` }, login);
      await market.ask("DELETE", `/api/v1/keys?id=${body.id}`, undefined, login);
    }
    const { body } = await market.ask("GET", "/api/v1/keys", undefined, login);
    const names = (body.keys as { name: string }[]).map(({ name }) => name);
    expect([names.length, names.at(-1)]).toEqual([101, "key 104"]);
  });

  it("a stolen API key makes, lists and revokes no keys", async () => {
    const key = await makeKey(market.ask, newWallet());
    for (const [method, body] of [["POST", { name: "mine" }], ["GET"], ["DELETE"]] as const) {
      const reply = await market.ask(method, "/api/v1/keys?id=any", body, key);
      expect(reply).toMatchObject({ status: 403, body: { code: "forbidden" } });
    }
  });

  it("a login ends when it is told to, and nobody revokes another account's key", async () => {
    const [alice, bob] = [newWallet(), newWallet()];
    const own = await logIn(market.ask, alice);
    const made = await market.ask("POST", "/api/v1/keys", { name: "alice" }, own);
    const other = await logIn(market.ask, bob);
    const revoked = await market.ask("DELETE", `/api/v1/keys?id=${made.body.id}`, undefined, other);
    expect(revoked).toMatchObject({ status: 404 });
    await market.ask("POST", "/api/v1/auth/logout", undefined, own);
    expect(await market.ask("GET", "/api/v1/keys", undefined, own)).toMatchObject({ status: 401 });
  });

  it("an account has a bounded number of keys, however fast they are asked for", async () => {
    const secret = await logIn(market.ask, newWallet());
    const made = await Promise.all(
      Array.from({ length: 25 }, (_, i) => market.ask("POST", "/api/v1/keys", { name: `key ${i}` }, secret)),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(made.find(({ status }) => status === 409)?.body.error).toMatch(/revoke one of them first/);
  });

  it("a wallet is linked by its own signature over the account's name", async () => {
    const [owner, other] = [newWallet(), newWallet()];
    const key = await makeKey(market.ask, owner);
    const link = async (message: string) =>
      market.ask("POST", "/api/v1/wallets", { message, signature: await other.signMessage({ message }) }, key);
    expect(await link(await challengeFor(other.address))).toMatchObject({ status: 401 });
    expect(await link(await challengeFor(other.address, newWallet().address))).toMatchObject({ status: 401 });
    const linked = await link(await challengeFor(other.address, owner.address));
    expect(linked.body.linkedWallets).toMatchObject([{ wallet: other.address.toLowerCase() }]);
    const unlinked = await market.ask("DELETE", `/api/v1/wallets?wallet=${other.address}`, undefined, key);
    expect(unlinked.body.linkedWallets).toEqual([]);
  });

  it("favourites are the account's, and searches look among them alone only if it says so", async () => {
    const key = await makeKey(market.ask, newWallet());
    const toolId = "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";
    await market.ask("POST", "/api/v1/favorites", { toolId: toolId.toUpperCase() }, key);
    const added = await market.ask("PATCH", "/api/v1/account", { favoritesOnly: true }, key);
    expect(added.body).toMatchObject({ favorites: [toolId], favoritesOnly: true });
    const removed = await market.ask("DELETE", `/api/v1/favorites?toolId=${toolId}`, undefined, key);
    expect(removed.body.favorites).toEqual([]);
  });

  it("what accounts change of themselves shares its commits, so that none of them keeps the disk for itself", async () => {
    const [wallet, linked] = [newWallet(), newWallet()];
    const key = await makeKey(market.ask, wallet);
    const message = await challengeFor(wallet.address);
    const signature = await wallet.signMessage({ message });
    const linking = await challengeFor(linked.address, wallet.address.toLowerCase());
    const { alone } = market.store;
    let commits = 0;
    market.store.alone = (work) => {
      commits += 1;
      return alone(work);
    };
    try {
      const tools = Array.from({ length: 20 }, () => randomUUID());
      const all = (work: (toolId: string) => Promise<{ status: number }>) => Promise.all(tools.map(work));
      const added = await all((toolId) => market.ask("POST", "/api/v1/favorites", { toolId }, key));
      const removed = await all((toolId) => market.ask("DELETE", `/api/v1/favorites?toolId=${toolId}`, undefined, key));
      const changed = await market.ask("PATCH", "/api/v1/account", { favoritesOnly: true, maxQueryCostUsd: "1" }, key);
      expect(new Set([...added, ...removed, changed].map(({ status }) => status))).toEqual(new Set([200]));
      expect(changed.body).toMatchObject({ favorites: [], favoritesOnly: true, maxQueryCostUsd: "1.00" });
      expect(commits).toBe(0);
      // But for a nonce, which is used once, and an account, which is opened once.
      expect((await login(message, signature)).status).toBe(200);
      expect(commits).toBe(2);
      const link = { message: linking, signature: await linked.signMessage({ message: linking }) };
      expect((await market.ask("POST", "/api/v1/wallets", link, key)).status).toBe(200);
      const unlink = `/api/v1/wallets?wallet=${linked.address}`;
      expect((await market.ask("DELETE", unlink, undefined, key)).body).toMatchObject({ linkedWallets: [] });
      expect(commits).toBe(3);
      const secret = await logIn(market.ask, wallet);
      const { id } = (await market.ask("POST", "/api/v1/keys", { name: "one more" }, secret)).body;
      const before = commits;
      expect((await market.ask("DELETE", `/api/v1/keys?id=${id}`, undefined, secret)).status).toBe(200);
      expect(commits).toBe(before);
    } finally {
      market.store.alone = alone;
    }
  });

  it("secrets are kept as hashes", async () => {
    const wallet = newWallet();
    const secret = await logIn(market.ask, wallet);
    const made = await market.ask("POST", "/api/v1/keys", { name: "kept" }, secret);
    const rows = [
      ...(await market.store.read.all("SELECT * FROM logins")),
      ...(await market.store.read.all("SELECT * FROM api_keys")),
    ].flatMap((row) => Object.values(row).map(String));
    expect(rows.length).toBeGreaterThan(0);
    for (const held of [secret, made.body.key as string])
      expect(rows.some((value) => value.includes(held))).toBe(false);
  });
});

describe("the edge", () => {
  it("lets browsers ask, documents itself, and answers in one shape", async () => {
    const database = await backends[0]?.create();
    if (database === undefined) throw new Error("there is no database");
    const market = await openMarketplace(database);
    const ofKeys = await market.app.inject({ method: "OPTIONS", url: "/.well-known/jwks.json" });
    expect([ofKeys.statusCode, ofKeys.headers["access-control-allow-origin"]]).toEqual([204, "*"]);
    const preflight = await market.app.inject({ method: "OPTIONS", url: "/api/v1/tools/execute" });
    expect(preflight.statusCode).toBe(204);
    expect(preflight.headers["access-control-allow-headers"]).toContain("idempotency-key");
    // What MCP clients in browsers send to the front.
    expect(preflight.headers["access-control-allow-headers"]).toContain("mcp-protocol-version");
    const missing = await market.ask("GET", "/api/v1/nothing");
    expect(missing).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(missing.headers["access-control-allow-origin"]).toBe("*");
    const document = await market.ask("GET", "/openapi.json");
    expect(Object.keys(document.body.paths as object)).toContain("/api/v1/keys");
    expect(await market.ask("GET", "/ready")).toMatchObject({ status: 200 });
    market.drain();
    expect(await market.ask("POST", "/api/v1/auth/challenge", {})).toMatchObject({ status: 503 });
    await market.close();
    await database.remove();
  });

  it("shows its metrics to who has their token, and to nobody where none is set", async () => {
    const [sqlite] = backends;
    if (sqlite === undefined) throw new Error("there is no database");
    const [database, other] = [await sqlite.create(), await sqlite.create()];
    const token = "metrics-token-of-the-tests-0123456789";
    const open = await openMarketplace(database, { metricsToken: token });
    const shut = await openMarketplace(other);
    const statusOf = async (market: typeof open, authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      return (await market.app.inject({ url: "/metrics", headers })).statusCode;
    };
    expect(await statusOf(open, `Bearer ${token}`)).toBe(200);
    for (const wrong of [undefined, "Bearer ", `Bearer ${token}x`, `Bearer ${token.slice(1)}`, token]) {
      expect([wrong, await statusOf(open, wrong)]).toEqual([wrong, 401]);
    }
    for (const guess of [undefined, "Bearer ", "Bearer null", `Bearer ${token}`]) {
      expect([guess, await statusOf(shut, guess)]).toEqual([guess, 401]);
    }
    for (const market of [open, shut]) await market.close();
    await database.remove();
    await other.remove();
  });
});
