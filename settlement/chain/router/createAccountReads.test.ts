import type { Hex, PublicClient } from "viem";
import { expect, it } from "vitest";
import type { Answer, Endpoints } from "../rpc/endpoints.ts";
import type { Ranking } from "../rpc/rankHeads.ts";
import { createAccountReads } from "./createAccountReads.ts";

const ROUTER = "0x00000000000000000000000000000000000000c0";
const OPERATOR = "0x00000000000000000000000000000000000000bb";
const BLOCK = { number: 5n, hash: `0x${"5".repeat(64)}` as Hex, timestampMs: 0 };

// Endpoints that answer with these, or not at all.
function nonceOf(
  results: readonly (string | null)[],
  { later = "0x9", at = BLOCK as "latest" | "shared" | typeof BLOCK, ranking = null as Partial<Ranking> | null } = {},
): Promise<number> {
  const endpoints = {
    askAll: () =>
      results.map(
        async (result, i): Promise<Answer> =>
          result === null
            ? { kind: "failure", endpoint: `${i}`, reason: "is silent", mayHaveArrived: false }
            : { kind: "result", endpoint: `${i}`, result },
      ),
    read: async () => later,
  } as unknown as Endpoints;
  const client = { getTransactionCount: async () => 3, getBlock: async () => BLOCK } as unknown as PublicClient;
  const survey = async () => ranking as Ranking | null;
  return createAccountReads({ endpoints, client, router: ROUTER, survey }).nonce(OPERATOR, at);
}

it("a nonce is spent for good if every endpoint says so: one that makes it up sets nothing free", async () => {
  expect(await nonceOf(["0x3e8", "0x7"])).toBe(7);
  expect(await nonceOf(["0x7", "0x3e8", null])).toBe(7);
});

it("what is no number is no answer, and if there is none it is asked for again", async () => {
  expect(await nonceOf(["0x7", "latest", "0x"])).toBe(7);
  expect(await nonceOf([null, null])).toBe(9);
});

// Seeds 320 and 1866 found this: one that was a block ahead named any number, and thousands of empty transfers went after it.
it("a nonce that is written down is none that one endpoint alone has named", async () => {
  const shared = (endpoints: number) => ({ at: "shared", ranking: { shared: { block: BLOCK, endpoints } } }) as const;
  await expect(nonceOf(["0x3e8", null], shared(2))).rejects.toMatchObject({ retryable: true });
  expect(await nonceOf(["0x3e8", "0x7"], shared(2))).toBe(7);
  expect(await nonceOf(["0x3e8", "0x7", null], shared(3))).toBe(7);
  // The others are silent, stale or not there.
  expect(await nonceOf(["0x3e8", null], shared(1))).toBe(1_000);
  // One endpoint alone: it is asked at a block, and not for its newest answer.
  expect(await nonceOf(["0x7"], { at: "shared" })).toBe(7);
  await expect(nonceOf(["0x7"], { at: "shared", ranking: { shared: null } })).rejects.toMatchObject({
    retryable: true,
  });
});
