import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { createMerkleTree, verifiesProof } from "../../../settlement/engine/batch/merkleTree.ts";
import { ContextRouter__factory } from "../../../typechain-types/index.ts";
import type { Session } from "../../command/session.ts";
import { createAskReceipts } from "./askReceipts.ts";
import { findDoubles, type PaidLeaf } from "./findDoubles.ts";
import { findSettleCalls } from "./findSettleCalls.ts";
import { pathsOf } from "./receipts.ts";

const hash = (digit: number | string): Hex => `0x${String(digit).padStart(64, "0")}`;

describe("paths out of a proof of many", () => {
  it.each([1, 2, 3, 5, 8, 13])("lead from each of some of %i leaves to the root", (count) => {
    const leaves = Array.from({ length: count }, (_, i) => hash(i + 1));
    const tree = createMerkleTree(leaves.map((leaf) => hexToBytes(leaf)));
    for (const every of [1, 2, 3]) {
      const shown = tree.multiProofOf(leaves.filter((_, i) => i % every === 0));
      const paths = pathsOf(shown.leaves, shown.proof, shown.proofFlags);
      expect(paths).toHaveLength(shown.leaves.length);
      for (const [i, leaf] of shown.leaves.entries()) {
        expect(paths[i]).toEqual(tree.proofOf(leaf));
        expect(verifiesProof(tree.root, leaf, paths[i] as Hex[])).toBe(true);
      }
    }
  });

  it("are none if the proof makes no sense", () => {
    expect(pathsOf([hash(1)], [], [true])).toEqual([]);
  });
});

describe("charges that were paid twice", () => {
  const paid = (chargeId: string, root: string, settledAt: bigint, operator = "0xA", leaf = root) =>
    ({ receipt: { chargeId }, leaf, row: { root, settledAt, block: 1, operator } }) as PaidLeaf;
  const pairs = (...payments: PaidLeaf[]) =>
    findDoubles(payments).map(({ chargeId, kept, doubled }) => [chargeId, kept.row.root, doubled.row.root]);

  it("are set against the first payment, whatever order they are found in", () => {
    expect(pairs(paid("c", "second", 2n), paid("d", "other", 1n), paid("c", "first", 1n))).toEqual([
      ["c", "first", "second"],
    ]);
    expect(pairs(paid("c", "3", 3n), paid("c", "1", 1n), paid("c", "2", 2n))).toEqual([
      ["c", "1", "2"],
      ["c", "1", "3"],
    ]);
  });

  it("are set against the first payment of the same operator, which alone the court hears", () => {
    expect(pairs(paid("c", "1", 1n, "0xA"), paid("c", "2", 2n, "0xB"), paid("c", "3", 3n, "0xB"))).toEqual([
      ["c", "1", "2"],
      ["c", "2", "3"],
    ]);
  });

  it("are found within one batch", () => {
    expect(pairs(paid("c", "1", 1n, "0xA", "y"), paid("c", "1", 1n, "0xA", "x"))).toEqual([["c", "1", "1"]]);
  });
});

describe("the calldata of a batch", () => {
  const router = "0x00000000000000000000000000000000000000AA";
  const root = hash(7);
  const call = ContextRouter__factory.createInterface().encodeFunctionData("settle", [
    hash(0),
    root,
    [],
    "0x12",
  ]) as Hex;
  const decoy = call.replace(root.slice(2), hash(8).slice(2)) as Hex;

  async function found(transaction: { to: string; data: string }, trace: unknown): Promise<string[]> {
    const provider = {
      getTransaction: async () => transaction,
      send: async () => (trace === "none" ? Promise.reject(new Error("method not found")) : trace),
    };
    const calls: string[] = [];
    for await (const one of findSettleCalls({ provider } as unknown as Session, { hash: hash(9), router, root }))
      calls.push(one);
    return calls;
  }

  it("is the transaction's own, or is among what a contract was given", async () => {
    expect(await found({ to: router, data: call }, "none")).toEqual([call]);
    const length = bytesToHex(Uint8Array.of((call.length - 2) / 2), { size: 1 })
      .slice(2)
      .padStart(64, "0");
    expect(await found({ to: "0xBB", data: `0xabcdef01${length}${call.slice(2)}00` }, "none")).toEqual([call]);
    expect(await found({ to: "0xBB", data: `0xabcdef01${hash(1).slice(2)}${decoy.slice(2)}` }, "none")).toEqual([]);
  });

  it("is in the trace of a transaction that does not have it", async () => {
    const trace = {
      to: "0xBB",
      input: "0x",
      calls: [{ to: router.toLowerCase(), input: decoy }, { calls: [{ to: router, input: call }] }],
    };
    expect(await found({ to: "0xBB", data: "0x1234" }, trace)).toEqual([call]);
    expect(await found({ to: "0xBB", data: "0x1234" }, "none")).toEqual([]);
  });
});

describe("a marketplace that is asked for receipts", () => {
  const servers: ReturnType<typeof createServer>[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });

  async function ask(listener: Parameters<typeof createServer>[1]) {
    const server = createServer(listener as never);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return createAskReceipts({ url: `http://127.0.0.1:${port}`, apiKey: "sk_live_x", timeoutMs: 100 });
  }

  it("and hangs, or drips, is not waited for", async () => {
    let asked = 0;
    const hanging = await ask((_: unknown, response: { write(text: string): void }) => {
      asked += 1;
      if (asked > 1) response.write("[");
    });
    for (const number of [1, 2, 3]) {
      expect(await hanging(hash(number))).toEqual({
        kind: "silent",
        reason: "it has not answered within 0.1 seconds",
      });
    }
    // Two tries for each of three batches, and then no more in this round.
    expect(await hanging(hash(4))).toMatchObject({
      kind: "silent",
      reason: expect.stringContaining("not asked again"),
    });
    expect(asked).toBe(6);
  });

  it("and has none is told apart from one that says nothing", async () => {
    const without = await ask((_: unknown, response: { writeHead(status: number): { end(): void } }) =>
      response.writeHead(404).end(),
    );
    expect(await without(hash(1))).toEqual({ kind: "none" });
  });
});
