import type { TransactionReceipt } from "ethers";
import { expect, it } from "vitest";
import { untilIncluded } from "./untilIncluded.ts";

const RECEIPT = { status: 1 } as TransactionReceipt;
const OFTEN = { lookEveryMs: 1, forgottenMs: 20 };

// A node that says so of a transaction, one look after the other, and the last thing from then on.
function nodeOf(...says: readonly ("pending" | "unknown" | "included")[]) {
  let looks = 0;
  const now = () => says[Math.min(looks, says.length - 1)];
  const node = {
    looks: () => looks,
    getTransactionReceipt: async () => (now() === "included" ? RECEIPT : null),
    getTransaction: async () => {
      const isKnown = now() === "pending";
      looks += 1;
      return isKnown ? {} : null;
    },
  };
  return node as typeof node & Parameters<typeof untilIncluded>[0];
}

it("a transaction that waits in the mempool is waited for, however long it takes", async () => {
  const node = nodeOf(...Array.from({ length: 100 }, () => "pending" as const), "included");
  expect(await untilIncluded(node, "0x1", OFTEN)).toBe(RECEIPT);
  expect(node.looks()).toBe(100);
});

it("a transaction that one node has not heard of is still waited for", async () => {
  expect(await untilIncluded(nodeOf("pending", "unknown", "included"), "0x1", { ...OFTEN, forgottenMs: 60_000 })).toBe(
    RECEIPT,
  );
});

it("a transaction that the node has forgotten is not waited for permanently", async () => {
  expect(await untilIncluded(nodeOf("pending", "unknown"), "0x1", OFTEN)).toBe(null);
});
