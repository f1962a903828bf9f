import type { Hex, PublicClient } from "viem";
import { expect, it } from "vitest";
import type { Answer, Endpoints } from "../rpc/endpoints.ts";
import { createAccountReads } from "./createAccountReads.ts";

const ROUTER = "0x00000000000000000000000000000000000000c0";
const OPERATOR = "0x00000000000000000000000000000000000000bb";
const BLOCK = { number: 5n, hash: `0x${"5".repeat(64)}` as Hex, timestampMs: 0 };

// Endpoints that answer with these, or not at all.
function nonceOf(results: readonly (string | null)[], later = "0x9"): Promise<number> {
  const asked: unknown[] = [];
  const endpoints = {
    askAll: (method: string, params: readonly unknown[]) => {
      asked.push([method, params]);
      return results.map(
        async (result, i): Promise<Answer> =>
          result === null
            ? { kind: "failure", endpoint: `${i}`, reason: "is silent", mayHaveArrived: false }
            : { kind: "result", endpoint: `${i}`, result },
      );
    },
    read: async () => later,
  } as unknown as Endpoints;
  return createAccountReads({ endpoints, client: {} as PublicClient, router: ROUTER }).nonce(OPERATOR, BLOCK);
}

it("a nonce is spent for good if every endpoint says so: one that makes it up sets nothing free", async () => {
  expect(await nonceOf(["0x3e8", "0x7"])).toBe(7);
  expect(await nonceOf(["0x7", "0x3e8", null])).toBe(7);
});

it("what is no number is no answer, and if there is none it is asked for again", async () => {
  expect(await nonceOf(["0x7", "latest", "0x"])).toBe(7);
  expect(await nonceOf([null, null])).toBe(9);
});
