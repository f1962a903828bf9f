import assert from "node:assert/strict";
import { type Hex, keccak256 } from "viem";
import type { FaultCase, FaultGroup } from "./faultCase.ts";
import type { RpcRequest } from "./rpcProxy.ts";
import { hexOf } from "./sequencer.ts";
import { until } from "./until.ts";
import { PAYERS, type World } from "./world.ts";

const SEND = "eth_sendRawTransaction";
const GWEI = 10n ** 9n;
const HIGH_BASE_FEE = 1_500_000_000n;

// The usual course: a daemon, a fault in front of it, twelve turns, and everything settled.
async function settleWith(world: World, inject: () => void | Promise<void>): Promise<void> {
  await world.start();
  await inject();
  await world.recordTurns();
  await world.settled();
}

const cases: FaultCase[] = [
  {
    number: 1,
    fault: "A send times out but was accepted",
    injected: "the proxy passes the first send on and never answers it",
    claim: "a send without an answer is unknown, and its transaction is found on chain by its hash",
    async run(world) {
      await settleWith(
        world,
        () => void world.endpoint.rule({ method: SEND, times: 1, action: { kind: "lose answer" } }),
      );
      assert.equal(world.outcomes()[0], "unknown");
      const signed = world.signed();
      assert.equal(signed.length, 1, "nothing else is signed for it");
      const books = await world.books();
      assert.equal(books.transactions, 1);
      return { happened: "the send is logged as unknown; its one transaction is found mined and becomes final", books };
    },
  },
  {
    number: 2,
    fault: "A send never arrives",
    injected: "the proxy cuts the connection of the first send before the node hears of it",
    claim: "bytes that never arrived are sent again, the same bytes",
    async run(world) {
      await settleWith(world, () => void world.endpoint.rule({ method: SEND, times: 1, action: { kind: "drop" } }));
      assert.deepEqual(world.outcomes().slice(0, 2), ["unknown", "accepted"]);
      assert.equal(world.signed().length, 1);
      const books = await world.books();
      return { happened: "unknown, then the same bytes are accepted; one transaction was ever signed", books };
    },
  },
  {
    number: 3,
    fault: "Nonce too low",
    injected: "the node takes the first send and mines it, and the proxy answers “nonce too low”",
    claim: "a nonce that is too low makes the daemon look at the chain, and never sign the batch anew",
    async run(world) {
      await settleWith(world, () => {
        world.endpoint.rule({
          method: SEND,
          times: 1,
          action: {
            kind: "exchange",
            answer: async ({ id }) => {
              await world.sequencer.mine();
              return {
                jsonrpc: "2.0",
                id,
                error: { code: -32000, message: "nonce too low: next nonce 1, tx nonce 0" },
              };
            },
          },
        });
      });
      assert.deepEqual(world.outcomes(), ["nonce_too_low"]);
      assert.equal(world.signed().length, 1);
      const books = await world.books();
      assert.equal(books.transactions, 1);
      return { happened: "one send, answered with nonce_too_low; the batch is found mined under its own hash", books };
    },
  },
  {
    number: 4,
    fault: "Nonce too high",
    injected: "the proxy answers one question for the operator's nonce with one too many, so that a nonce is left out",
    claim: "a gap in the nonces is closed by an empty transfer, and the batch behind it goes on",
    async run(world) {
      const nonce = await world.chain.provider.getTransactionCount(world.operator.address);
      await settleWith(world, () => {
        world.endpoint.rule({
          method: "eth_getTransactionCount",
          when: ({ params }) => params[1] === "latest",
          times: 1,
          action: { kind: "answer", result: () => hexOf(nonce + 1) },
        });
      });
      const signed = world.signed();
      const fill = signed.find((transaction) => transaction.nonce === nonce);
      assert.equal(fill?.to?.toLowerCase(), world.operator.address.toLowerCase());
      assert.equal(signed.filter((transaction) => transaction.nonce === nonce + 1).length, 1);
      const books = await world.books();
      return {
        happened: "the batch is signed one nonce too high, an empty transfer fills the gap, both are mined",
        books,
      };
    },
  },
  {
    number: 5,
    fault: "“Already known”, “already imported”",
    injected: "the proxy passes the first send on twice and hands the second answer back",
    claim: "a node that has the bytes already is as good as one that takes them",
    async run(world) {
      await settleWith(world, async () => {
        await world.sequencer.stall();
        world.endpoint.rule({ method: SEND, times: 1, action: { kind: "duplicate" } });
        void until("the send", () => world.outcomes().length > 0).then(() => world.sequencer.resume());
      });
      assert.equal(world.outcomes()[0], "already_known");
      assert.equal(world.signed().length, 1);
      const books = await world.books();
      assert.equal(books.transactions, 1);
      return { happened: "anvil says “transaction already imported”, logged as already_known; one transaction", books };
    },
  },
  {
    number: 6,
    fault: "Replacement underpriced",
    injected: "the proxy refuses the first bytes, whenever they come, as “replacement transaction underpriced”",
    claim: "what is underpriced is replaced on the same nonce with at least 10 % more in both fee fields",
    async run(world) {
      let first: Hex | undefined;
      await settleWith(world, () => {
        world.endpoint.rule({
          method: SEND,
          when: ({ params }) => {
            first ??= params[0] as Hex;
            return params[0] === first;
          },
          action: { kind: "error", error: { code: -32000, message: "replacement transaction underpriced" } },
        });
      });
      const [one, two, ...more] = world.signed();
      assert.ok(one && two && more.length === 0);
      assert.equal(one.nonce, two.nonce);
      for (const field of ["maxFeePerGas", "maxPriorityFeePerGas"] as const) {
        assert.ok(two[field] * 10n >= one[field] * 11n, `${field} grew by 10 %`);
      }
      const books = await world.books();
      assert.equal(books.transactions, 1);
      return {
        happened: "replaced once on its nonce, both fee fields up by 12.5 % or more; the dearer one is mined",
        books,
      };
    },
  },
  {
    number: 7,
    fault: "A transaction is dropped from the pool, and later nonces with it",
    injected: "`anvil_dropTransaction` on the first of three batches in the pool, which drops the others too",
    claim: "everything that was dropped is sent again, each with its own bytes",
    async run(world) {
      await world.sequencer.stall();
      await world.start({ plan: { policy: { bounds: { maxRows: 4, maxLines: 100, maxCharges: 100 } } } });
      await world.recordTurns();
      const signed = await until("three batches", () => {
        const found = world.signed();
        return found.length === 3 && world.outcomes().length >= 3 ? found : null;
      });
      await world.chain.rpc("anvil_dropTransaction", [signed[0]?.hash]);
      assert.equal(await poolSize(world), 0);
      await until("them to be back", async () => (await poolSize(world)) === 3);
      world.sequencer.resume();
      await world.settled();
      assert.equal(world.signed().length, 3);
      const books = await world.books();
      assert.equal(books.transactions, 3);
      return { happened: "three transactions vanish from the pool and come back under the same hashes", books };
    },
  },
  {
    number: 8,
    fault: "The base fee jumps after the send",
    injected: "every block from the send on has a base fee of 1.5 gwei, above what was offered",
    claim: "a transaction that the base fee has left behind is replaced at the price of the day",
    async run(world) {
      await world.sequencer.stall();
      await world.start();
      await world.recordTurns();
      await until("the send", () => world.outcomes()[0] === "accepted");
      await world.sequencer.setBaseFee(HIGH_BASE_FEE);
      world.sequencer.resume();
      await world.settled();
      const signed = world.signed();
      assert.ok((signed[0]?.maxFeePerGas ?? 0n) < HIGH_BASE_FEE);
      assert.ok((signed.at(-1)?.maxFeePerGas ?? 0n) >= HIGH_BASE_FEE);
      assert.equal(new Set(signed.map(({ nonce }) => nonce)).size, 1);
      const books = await world.books();
      assert.equal(books.transactions, 1);
      return {
        happened: "the first offer lies below the new base fee; a replacement on the same nonce is mined",
        books,
      };
    },
  },
  {
    number: 9,
    fault: "The max fee is below the base fee at the send",
    injected: "between the reading of fees and the send the base fee rises to 1.5 gwei, so that anvil refuses the send",
    claim: "a fee that is too low is read anew, and the nonce is kept",
    async run(world) {
      await settleWith(world, () => {
        world.endpoint.rule({
          method: SEND,
          times: 1,
          action: {
            kind: "after",
            first: async () => {
              await world.sequencer.setBaseFee(HIGH_BASE_FEE);
              await world.sequencer.mine(2);
            },
          },
        });
      });
      assert.equal(world.outcomes()[0], "fee_too_low");
      const signed = world.signed();
      assert.ok((signed.at(-1)?.maxFeePerGas ?? 0n) >= HIGH_BASE_FEE);
      assert.equal(new Set(signed.map(({ nonce }) => nonce)).size, 1);
      const books = await world.books();
      return {
        happened: "anvil refuses the first offer as fee_too_low; one at the new price is mined on its nonce",
        books,
      };
    },
  },
  {
    number: 10,
    fault: "The fee ceiling is reached",
    injected: "every block has a base fee of 10 gwei, and the ceiling is 5 gwei per gas",
    claim: "above the ceiling nothing is signed, an alert is raised and no attempt is used up",
    async run(world) {
      await world.sequencer.setBaseFee(10n * GWEI);
      await world.sequencer.mine();
      await world.start();
      await world.recordTurns();
      await until("the alert", () => world.daemon.alerts("holding").some((message) => message.includes("ceiling")));
      assert.equal(world.signed().length, 0);
      await world.sequencer.setBaseFee(GWEI / 10n);
      await world.settled();
      const books = await world.books();
      assert.equal(books.attempts, 0);
      return {
        happened: "alert `holding` (fees above the ceiling), nothing signed; settled once fees had fallen",
        books,
      };
    },
  },
  {
    number: 11,
    fault: "A transaction is stuck",
    injected: "the proxy answers the first bytes with their hash, whenever they come, and tells the node nothing",
    claim: "a transaction that blocks pass by is replaced on the same nonce",
    async run(world) {
      let first: Hex | undefined;
      await settleWith(world, () => {
        world.endpoint.rule({
          method: SEND,
          when: ({ params }) => {
            first ??= params[0] as Hex;
            return params[0] === first;
          },
          action: { kind: "answer", result: ({ params }: RpcRequest) => keccak256(params[0] as Hex) },
        });
      });
      const signed = world.signed();
      assert.equal(signed.length, 2);
      assert.equal(signed[0]?.nonce, signed[1]?.nonce);
      const books = await world.books();
      assert.equal(books.transactions, 1);
      return { happened: "the first transaction is never mined; its replacement on the same nonce is", books };
    },
  },
  {
    number: 12,
    fault: "A batch is above the block's gas limit",
    injected: "`evm_setBlockGasLimit` of 500,000 before a batch of 12 payers is made",
    claim: "a batch that fits into no block is split until its parts do",
    async run(world) {
      await world.chain.rpc("evm_setBlockGasLimit", [hexOf(500_000)]);
      try {
        await world.start();
        await world.recordTurns();
        await world.settled();
        const books = await world.books();
        assert.ok(books.transactions > 1);
        assert.equal(books.attempts, 0);
        return { happened: "the batch of 12 is taken apart before anything is signed, and settled in several", books };
      } finally {
        await world.chain.rpc("evm_setBlockGasLimit", [hexOf(200_000_000)]);
      }
    },
  },
  {
    number: 13,
    fault: "Gas estimation fails",
    injected: "the proxy answers every estimate that has one payer in it with a revert without a reason",
    claim: "the row that makes estimates fail is found by halving and set aside, and the others settle",
    async run(world) {
      const bad = world.payer(5).slice(2);
      await world.start({ plan: { policy: { brokenRowWaitMs: 1_500 } } });
      const lift = world.endpoint.rule({
        method: "eth_estimateGas",
        when: ({ params }) => JSON.stringify(params).includes(bad),
        action: { kind: "error", error: { code: 3, message: "execution reverted", data: "0x" } },
      });
      const turns = await world.recordTurns();
      const [message] = await until("the alert", () => {
        const found = world.daemon.alerts("row_set_aside");
        return found.length > 0 ? found : null;
      });
      assert.match(message ?? "", new RegExp(bad, "i"));
      await until("the others", async () => (await world.finalTurns()) === turns.length - 1);
      lift();
      await world.settled();
      const books = await world.books();
      assert.equal(books.attempts, 0);
      return {
        happened: `alert \`row_set_aside\` names the payer; ${PAYERS - 1} settle, the last when estimates work`,
        books,
      };
    },
  },
  {
    number: 14,
    fault: "429 or 5xx",
    injected: "two endpoints; the first answers with 429 and Retry-After, and later with 503, to everything",
    claim: "an endpoint that fails is left alone for longer and longer, and the next one is used",
    async run(world) {
      const second = await world.addEndpoint();
      await world.start({ endpoints: [world.endpoint, second] });
      const status429 = { kind: "status", status: 429, headers: { "retry-after": "1" } } as const;
      const lift = world.endpoint.rule({ method: null, action: status429 });
      await world.recordTurns(6);
      await world.settled();
      lift();
      world.endpoint.rule({ method: null, action: { kind: "status", status: 503 } });
      const before = { first: world.endpoint.asked.length, second: second.asked.length };
      await world.recordTurns(6);
      await world.settled();
      const asked = { first: world.endpoint.asked.length - before.first, second: second.asked.length - before.second };
      assert.ok(
        asked.first * 4 < asked.second,
        `the failing endpoint was asked ${asked.first} of ${asked.second} times`,
      );
      for (const outcome of ["rate_limited", "http_status"]) {
        const name = `settlement_rpc_errors_total{endpoint="endpoint 1",outcome="${outcome}"}`;
        await until(`a count of ${outcome}`, async () => (await world.metric(name)) > 0);
      }
      const books = await world.books();
      return {
        happened: "the first endpoint is counted as failing and hardly asked; the second settles everything",
        books,
      };
    },
  },
  {
    number: 15,
    fault: "An error with a misleading code",
    injected: "the node takes the first send; the proxy answers with code 3 (“reverted”) and the words “already known”",
    claim: "an error is read by what it says and not by its code",
    async run(world) {
      await settleWith(world, () => {
        world.endpoint.rule({
          method: SEND,
          times: 1,
          action: {
            kind: "exchange",
            answer: ({ id }) => ({ jsonrpc: "2.0", id, error: { code: 3, message: "internal error: already known" } }),
          },
        });
      });
      assert.equal(world.outcomes()[0], "already_known");
      assert.equal(world.signed().length, 1);
      const books = await world.books();
      assert.equal(books.transactions, 1);
      return { happened: "logged as already_known, nothing signed anew, one transaction", books };
    },
  },
  {
    number: 16,
    fault: "A lagging replica answers with no receipt",
    injected:
      "for a second the proxy answers as of the moment of the send: no receipt, the old nonce, the root unsettled",
    claim: "no receipt is no verdict: the batch is neither released nor signed on another nonce",
    async run(world) {
      await world.start();
      const nonce = await world.chain.provider.getTransactionCount(world.operator.address);
      const before = await world.chain.provider.getBlock("latest");
      let lagging = false;
      world.endpoint.rule({ method: SEND, times: 1, action: { kind: "after", first: async () => (lagging = true) } });
      const whileLagging = () => lagging;
      const stale = (method: string, result: unknown) =>
        world.endpoint.rule({ method, when: whileLagging, action: { kind: "answer", result: () => result } });
      stale("eth_getTransactionReceipt", null);
      stale("eth_getTransactionCount", hexOf(nonce));
      stale("eth_call", `0x${"0".repeat(64)}`);
      await world.recordTurns();
      const { batch } = await world.submitted();
      await until("the batch to be mined and final", async () => {
        const { number = 0 } = (await world.chain.provider.getBlock("finalized")) ?? {};
        return number > (before?.number ?? 0) + 5 && (await world.chain.router.settledAt(batch)) > 0n;
      });
      assert.equal((await world.batch(batch)).state, "submitted");
      lagging = false;
      await world.settled();
      assert.equal(world.daemon.events("released").length, 0);
      assert.equal(new Set(world.signed().map((transaction) => transaction.nonce)).size, 1);
      const books = await world.books();
      assert.equal(books.transactions, 1);
      return { happened: "mined and final on chain, the batch stays `submitted` until the replica catches up", books };
    },
  },
  {
    number: 17,
    fault: "A wrong chain id at an endpoint",
    injected: "two endpoints; the first, preferred one answers `eth_chainId` with 1",
    claim: "an endpoint of another chain is refused and asked nothing else",
    async run(world) {
      const second = await world.addEndpoint();
      world.endpoint.rule({ method: "eth_chainId", action: { kind: "answer", result: () => "0x1" } });
      await world.start({ endpoints: [world.endpoint, second] });
      await world.recordTurns();
      await world.settled();
      assert.deepEqual(
        world.endpoint.asked.filter(({ method }) => method !== "eth_chainId"),
        [],
      );
      assert.equal(
        await world.metric('settlement_rpc_errors_total{endpoint="endpoint 1",outcome="chain_mismatch"}'),
        1,
      );
      const books = await world.books();
      return { happened: "the first endpoint is asked for its chain id and nothing more; the second settles", books };
    },
  },
  {
    number: 18,
    fault: "Cut-off or invalid JSON, a hanging connection",
    injected: "the first three sends: an answer cut in the middle, an answer that is HTML, and a connection that hangs",
    claim: "an answer that is none leaves a send unknown, and nothing is signed anew for it",
    async run(world) {
      await world.start();
      for (const kind of ["truncate", "garble", "hang"] as const) {
        world.endpoint.rule({ method: SEND, times: 1, action: { kind } });
      }
      for (let i = 0; i < 3; i++) {
        await world.recordTurns(4);
        await world.settled();
      }
      const unknown = world.outcomes().filter((outcome) => outcome === "unknown");
      assert.equal(unknown.length, 3);
      assert.equal(world.signed().length, 3);
      const books = await world.books();
      assert.equal(books.transactions, 3);
      return { happened: "three sends logged as unknown; three batches, three transactions", books };
    },
  },
];

export const rpcFaults: FaultGroup = { name: "RPC and mempool", cases };

async function poolSize({ chain }: World): Promise<number> {
  const { pending, queued } = (await chain.rpc("txpool_status")) as { pending: string; queued: string };
  return Number(pending) + Number(queued);
}
