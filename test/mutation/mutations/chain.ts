import { type Mutation, vitest } from "../mutation.ts";

const CHAIN = "settlement/chain";

export const chainMutations: readonly Mutation[] = [
  {
    bug: "An endpoint of another chain is used",
    file: `${CHAIN}/endpoints.ts`,
    find: "if (served !== chainId) {",
    replace: "if (served !== chainId && served === 0) {",
    caughtBy: vitest("settlement/chain/endpoints.test.ts", "another chain"),
  },
  {
    bug: "One endpoint without the receipt is proof that there is none",
    file: `${CHAIN}/endpoints.ts`,
    find: "if (result !== null || !NULL_MAY_MEAN_LAG.has(method)) return result;",
    replace: "return result;",
    caughtBy: vitest("settlement/chain/endpoints.test.ts", "missing receipt"),
  },
  {
    bug: "A refusal of one endpoint outweighs that another may have taken the bytes",
    file: `${CHAIN}/sendRaw.ts`,
    find: `  "unknown",
  "nonce_too_low",
  "replacement_underpriced",
  "fee_too_low",
  "too_large",
  "insufficient_funds",
  "nonce_too_high",
];`,
    replace: `  "nonce_too_low",
  "replacement_underpriced",
  "fee_too_low",
  "too_large",
  "insufficient_funds",
  "nonce_too_high",
  "unknown",
];`,
    caughtBy: vitest("settlement/chain/sendRaw.test.ts"),
  },
  {
    bug: "A node that answers with another hash has accepted the bytes",
    file: `${CHAIN}/sendRaw.ts`,
    find: 'if (answer.result === txHash) return { kind: "accepted" };',
    replace: 'if (answer.result !== null) return { kind: "accepted" };',
    caughtBy: vitest("settlement/chain/sendRaw.test.ts"),
  },
  {
    bug: "Bytes that the pool has already are taken for refused",
    file: `${CHAIN}/classifySend.ts`,
    find: '[/already ?known|known transaction|already exists/i, "already_known"]',
    replace: '[/already ?known|known transaction|already exists/i, "replacement_underpriced"]',
    caughtBy: vitest("settlement/chain/classifySend.test.ts"),
  },
  {
    bug: "Events of any contract count as the router's",
    file: `${CHAIN}/decodeOutcome.ts`,
    find: "logs: logs.filter((log) => isAddressEqual(log.address, router)),",
    replace: "logs: logs.filter((log) => isAddressEqual(log.address, log.address) || router),",
    caughtBy: vitest("settlement/chain/decodeOutcome.test.ts"),
  },
  {
    bug: "What a payer can spend is remembered for a minute",
    file: `${CHAIN}/readSpendable.ts`,
    find: "maxAgeMs = 1_000",
    replace: "maxAgeMs = 60_000",
    caughtBy: vitest("settlement/chain/readSpendable.test.ts"),
  },
];
