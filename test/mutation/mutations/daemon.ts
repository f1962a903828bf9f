import { type Mutation, vitest } from "../mutation.ts";

const DAEMON = "settlement/daemon";
const daemon = (named: string) => vitest("test/local/daemon.test.ts", named);
const money = vitest("settlement/domain/money.test.ts");

export const daemonMutations: readonly Mutation[] = [
  {
    bug: "An API key is known by how it begins",
    file: `${DAEMON}/apiKeySecret.ts`,
    find: 'hash("sha256", secret)',
    replace: 'hash("sha256", secret.slice(0, 24))',
    caughtBy: daemon("refuses no key, a wrong key"),
  },
  {
    bug: "A revoked API key still works",
    file: `${DAEMON}/authenticate.ts`,
    find: "if (apiKey.revokedAtMs !== null) throw",
    replace: "if (apiKey.revokedAtMs === 0) throw",
    caughtBy: daemon("refuses no key, a wrong key"),
  },
  {
    bug: "Any secret is the service token",
    file: `${DAEMON}/authenticate.ts`,
    find: "if (timingSafeEqual(digestOf(secret), expected)) return",
    replace: "if (timingSafeEqual(expected, expected)) return",
    caughtBy: daemon("refuses no key, a wrong key"),
  },
  {
    bug: "A payer sees and closes anybody's session",
    file: `${DAEMON}/routes/sessions.ts`,
    find: "if (session === null || session.payer !== payerOf(caller)) throw notFound();",
    replace: "if (session === null) throw notFound();",
    caughtBy: daemon("shows nobody somebody else's session"),
  },
  {
    bug: "A key is answered without looking at the body",
    file: `${DAEMON}/answerOnce.ts`,
    find: "JSON.stringify([method, path, body ?? null])",
    replace: "JSON.stringify([method, path, body === undefined])",
    caughtBy: daemon("another body with a conflict"),
  },
  {
    bug: "A failure of the service is kept as the answer to a key",
    file: `${DAEMON}/answerOnce.ts`,
    find: "    if (status >= FIRST_SERVER_ERROR) throw error;\n",
    replace: "",
    caughtBy: vitest("settlement/daemon/answerOnce.test.ts"),
  },
  {
    bug: "A request under one key makes something new each time",
    file: `${DAEMON}/answerOnce.ts`,
    find: "if (key === null) return randomUUID;",
    replace: "if (key === null || caller) return randomUUID;",
    caughtBy: daemon("a crash between what a request did"),
  },
  {
    bug: "A stored answer holds the new API key",
    file: `${DAEMON}/routes/platform/apiKeys.ts`,
    find: "const stored = { ...view, key: null };",
    replace: "const stored = { ...view, key: secret };",
    caughtBy: daemon("shows a new API key once"),
  },
  {
    bug: "Nobody is told to slow down",
    file: `${DAEMON}/registerRoutes.ts`,
    find: "if (waitMs === 0) return;",
    replace: "if (waitMs >= 0) return;",
    caughtBy: daemon("so often and no more"),
  },
  {
    bug: "A bucket fills faster after a clock was set back",
    file: `${DAEMON}/rateLimit.ts`,
    find: "Math.max(0, nowMs - known.atMs)",
    replace: "Math.abs(nowMs - known.atMs)",
    caughtBy: vitest("settlement/daemon/rateLimit.test.ts"),
  },
  {
    bug: "A service that is about to stop takes new writes",
    file: `${DAEMON}/registerRoutes.ts`,
    find: 'if (gate.isDraining() && route.method !== "GET") {',
    replace: 'if (gate.isDraining() && route.method !== "POST") {',
    caughtBy: daemon("takes no more writes"),
  },
  {
    bug: "Secrets of the configuration get into the log",
    file: `${DAEMON}/createLogger.ts`,
    find: "if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);",
    replace: "if (clean === form) clean = clean.replaceAll(form, REDACTED);",
    caughtBy: vitest("settlement/daemon/createLogger.test.ts"),
  },
  {
    bug: "Two rounds of settlement run at a time",
    file: `${DAEMON}/runLoop.ts`,
    find: "      await round();\n",
    replace: "      void round();\n",
    caughtBy: vitest("settlement/daemon/runLoop.test.ts"),
  },
  {
    bug: "A cell of a statement can be a formula",
    file: `${DAEMON}/statement.ts`,
    find: "/^[=+\\-@\\t\\r]/.test(text)",
    replace: "/^[\\t\\r]/.test(text)",
    caughtBy: vitest("settlement/daemon/statement.test.ts"),
  },
  {
    bug: "A negative amount is an amount",
    file: "settlement/domain/money.ts",
    find: "const USD_PATTERN = /^(0|[1-9]\\d*)",
    replace: "const USD_PATTERN = /^(-?0|-?[1-9]\\d*)",
    caughtBy: money,
  },
  {
    bug: "A seventh decimal is cut off in silence",
    file: "settlement/domain/money.ts",
    find: "if (fraction.length > DECIMALS) {",
    replace: "if (fraction.length > 2 * DECIMALS) {",
    caughtBy: money,
  },
  {
    bug: "Dollars are accepted as a number",
    file: `${DAEMON}/fields.ts`,
    find: "export const usd = z.string(",
    replace: "export const usd = z.coerce.string(",
    caughtBy: daemon("money as a number"),
  },
  {
    bug: "A plain key in the environment is used where there is real money",
    file: "settlement/config.ts",
    find: "if (keys.length > 0 && chainId !== DEVELOPMENT_CHAIN_ID) {",
    replace: "if (keys.length > 0 && chainId === 1) {",
    caughtBy: vitest("settlement/config.test.ts"),
  },
];
