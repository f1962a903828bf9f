import assert from "node:assert/strict";
import { type Hex, keccak256 } from "viem";
import { until } from "../../../scripts/waiting/until.ts";
import type { RpcRequest } from "../proxies/rpcProxy.ts";
import { hexOf } from "../stage/sequencer.ts";
import { PAYERS, type Stage } from "../stage/stage.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

const SEND = "eth_sendRawTransaction";
const GWEI = 10n ** 9n;
const HIGH_BASE_FEE = 1_500_000_000n;

// The usual course: a daemon, a fault in front of it, twelve turns, and everything settled.
async function settleWith(stage: Stage, inject: () => void | Promise<void>): Promise<void> {
  await stage.start();
  await inject();
  await stage.recordTurns();
  await stage.settled();
}

const cases: FaultCase[] = [
  {
    number: 1,
    fault: "A send times out but was accepted",
    injected: "the proxy passes the first send on and never answers it",
    claim: "a send without an answer is unknown, and its transaction is found on chain by its hash",
    async run(stage) {
      await settleWith(
        stage,
        () => void stage.endpoint.rule({ method: SEND, times: 1, action: { kind: "lose answer" } }),
      );
      assert.equal(stage.outcomes()[0], "unknown");
      const signed = stage.signed();
      assert.equal(signed.length, 1, "nothing else is signed for it");
      const balances = await stage.balances();
      assert.equal(balances.transactions, 1);
      return {
        happened: "the send is logged as unknown; its one transaction is found mined and becomes final",
        balances,
      };
    },
  },
  {
    number: 2,
    fault: "A send never arrives",
    injected: "the proxy cuts the connection of the first send before the node hears of it",
    claim: "bytes that never arrived are sent again, the same bytes",
    async run(stage) {
      await settleWith(stage, () => void stage.endpoint.rule({ method: SEND, times: 1, action: { kind: "drop" } }));
      assert.deepEqual(stage.outcomes().slice(0, 2), ["unknown", "accepted"]);
      assert.equal(stage.signed().length, 1);
      const balances = await stage.balances();
      return { happened: "unknown, then the same bytes are accepted; one transaction was ever signed", balances };
    },
  },
  {
    number: 3,
    fault: "Nonce too low",
    injected: "the node takes the first send and mines it, and the proxy answers “nonce too low”",
    claim: "a nonce that is too low makes the daemon look at the chain, and never sign the batch again",
    async run(stage) {
      await settleWith(stage, () => {
        stage.endpoint.rule({
          method: SEND,
          times: 1,
          action: {
            kind: "exchange",
            answer: async ({ id }) => {
              await stage.sequencer.mine();
              return {
                jsonrpc: "2.0",
                id,
                error: { code: -32000, message: "nonce too low: next nonce 1, tx nonce 0" },
              };
            },
          },
        });
      });
      assert.deepEqual(stage.outcomes(), ["nonce_too_low"]);
      assert.equal(stage.signed().length, 1);
      const balances = await stage.balances();
      assert.equal(balances.transactions, 1);
      return {
        happened: "one send, answered with nonce_too_low; the batch is found mined under its own hash",
        balances,
      };
    },
  },
  {
    number: 4,
    fault: "Nonce too high",
    injected: "the proxy answers two questions for the operator's newest nonce with one too many",
    claim: "no nonce is left out for what an endpoint says: the batch gets the next one, and is mined",
    async run(stage) {
      const nonce = await stage.world.provider.getTransactionCount(stage.operator.address);
      await settleWith(stage, () => {
        stage.endpoint.rule({
          method: "eth_getTransactionCount",
          when: ({ params }) => params[1] === "latest",
          // Whoever looks for foreign use of the key asks first, and the batch then.
          times: 2,
          action: { kind: "answer", result: () => hexOf(nonce + 1) },
        });
      });
      const signed = stage.signed();
      assert.deepEqual([...new Set(signed.map((transaction) => transaction.nonce))], [nonce]);
      const balances = await stage.balances();
      return {
        happened: "the batch is signed with the nonce that every endpoint names at one block, and mined",
        balances,
      };
    },
  },
  {
    number: 5,
    fault: "“Already known”, “already imported”",
    injected: "the proxy passes the first send on twice and hands the second answer back",
    claim: "a node that has the bytes already is as good as one that takes them",
    async run(stage) {
      await settleWith(stage, async () => {
        await stage.sequencer.stall();
        stage.endpoint.rule({ method: SEND, times: 1, action: { kind: "duplicate" } });
        void until("the send", () => stage.outcomes().length > 0).then(() => stage.sequencer.resume());
      });
      assert.equal(stage.outcomes()[0], "already_known");
      assert.equal(stage.signed().length, 1);
      const balances = await stage.balances();
      assert.equal(balances.transactions, 1);
      return {
        happened: "anvil says “transaction already imported”, logged as already_known; one transaction",
        balances,
      };
    },
  },
  {
    number: 6,
    fault: "Replacement underpriced",
    injected: "the proxy refuses the first bytes, whenever they come, as “replacement transaction underpriced”",
    claim: "what is underpriced is replaced on the same nonce with at least 10 % more in both fee fields",
    async run(stage) {
      let first: Hex | undefined;
      await settleWith(stage, () => {
        stage.endpoint.rule({
          method: SEND,
          when: ({ params }) => {
            first ??= params[0] as Hex;
            return params[0] === first;
          },
          action: { kind: "error", error: { code: -32000, message: "replacement transaction underpriced" } },
        });
      });
      const [one, two, ...more] = stage.signed();
      assert.ok(one && two && more.length === 0);
      assert.equal(one.nonce, two.nonce);
      for (const field of ["maxFeePerGas", "maxPriorityFeePerGas"] as const) {
        assert.ok(two[field] * 10n >= one[field] * 11n, `${field} grew by 10 %`);
      }
      const balances = await stage.balances();
      assert.equal(balances.transactions, 1);
      return {
        happened: "replaced once on its nonce, both fee fields up by 12.5 % or more; the higher-fee one is mined",
        balances,
      };
    },
  },
  {
    number: 7,
    fault: "A transaction is dropped from the mempool, and later nonces with it",
    injected: "`anvil_dropTransaction` on the first of three batches in the mempool, which drops the others too",
    claim: "everything that was dropped is sent again, each with its own bytes",
    async run(stage) {
      await stage.sequencer.stall();
      await stage.start({ plan: { policy: { bounds: { maxRows: 4, maxLines: 100, maxCharges: 100 } } } });
      await stage.recordTurns();
      const signed = await until("three batches", () => {
        const found = stage.signed();
        return found.length === 3 && stage.outcomes().length >= 3 ? found : null;
      });
      await stage.world.rpc("anvil_dropTransaction", [signed[0]?.hash]);
      assert.equal(await mempoolSize(stage), 0);
      await until("them to be back", async () => (await mempoolSize(stage)) === 3);
      stage.sequencer.resume();
      await stage.settled();
      assert.equal(stage.signed().length, 3);
      const balances = await stage.balances();
      assert.equal(balances.transactions, 3);
      return { happened: "three transactions vanish from the mempool and come back under the same hashes", balances };
    },
  },
  {
    number: 8,
    fault: "The base fee jumps after the send",
    injected: "every block from the send on has a base fee of 1.5 gwei, above what was offered",
    claim: "a transaction that the base fee has left behind is replaced at the price of the day",
    async run(stage) {
      await stage.sequencer.stall();
      await stage.start();
      await stage.recordTurns();
      await until("the send", () => stage.outcomes()[0] === "accepted");
      await stage.sequencer.setBaseFee(HIGH_BASE_FEE);
      stage.sequencer.resume();
      await stage.settled();
      const signed = stage.signed();
      assert.ok((signed[0]?.maxFeePerGas ?? 0n) < HIGH_BASE_FEE);
      assert.ok((signed.at(-1)?.maxFeePerGas ?? 0n) >= HIGH_BASE_FEE);
      assert.equal(new Set(signed.map(({ nonce }) => nonce)).size, 1);
      const balances = await stage.balances();
      assert.equal(balances.transactions, 1);
      return {
        happened: "the first offer lies below the new base fee; a replacement on the same nonce is mined",
        balances,
      };
    },
  },
  {
    number: 9,
    fault: "The max fee is below the base fee at the send",
    injected: "between the reading of fees and the send the base fee rises to 1.5 gwei, so that anvil refuses the send",
    claim: "a fee that is too low is read again, and the nonce is kept",
    async run(stage) {
      await settleWith(stage, () => {
        stage.endpoint.rule({
          method: SEND,
          times: 1,
          action: {
            kind: "after",
            first: async () => {
              await stage.sequencer.setBaseFee(HIGH_BASE_FEE);
              await stage.sequencer.mine(2);
            },
          },
        });
      });
      assert.equal(stage.outcomes()[0], "fee_too_low");
      const signed = stage.signed();
      assert.ok((signed.at(-1)?.maxFeePerGas ?? 0n) >= HIGH_BASE_FEE);
      assert.equal(new Set(signed.map(({ nonce }) => nonce)).size, 1);
      const balances = await stage.balances();
      return {
        happened: "anvil refuses the first offer as fee_too_low; one at the new price is mined on its nonce",
        balances,
      };
    },
  },
  {
    number: 10,
    fault: "The fee ceiling is reached",
    injected: "every block has a base fee of 10 gwei, and the ceiling is 5 gwei per gas",
    claim: "above the ceiling nothing is signed, an alert is raised and no attempt is used up",
    async run(stage) {
      await stage.sequencer.setBaseFee(10n * GWEI);
      await stage.sequencer.mine();
      await stage.start();
      await stage.recordTurns();
      await until("the alert", () => stage.daemon.alerts("holding").some((message) => message.includes("ceiling")));
      assert.equal(stage.signed().length, 0);
      await stage.sequencer.setBaseFee(GWEI / 10n);
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "alert `holding` (fees above the ceiling), nothing signed; settled once fees had fallen",
        balances,
      };
    },
  },
  {
    number: 11,
    fault: "A transaction is stuck",
    injected: "the proxy answers the first bytes with their hash, whenever they come, and tells the node nothing",
    claim: "a transaction that blocks pass by is replaced on the same nonce",
    async run(stage) {
      let first: Hex | undefined;
      await settleWith(stage, () => {
        stage.endpoint.rule({
          method: SEND,
          when: ({ params }) => {
            first ??= params[0] as Hex;
            return params[0] === first;
          },
          action: { kind: "answer", result: ({ params }: RpcRequest) => keccak256(params[0] as Hex) },
        });
      });
      const signed = stage.signed();
      assert.equal(signed.length, 2);
      assert.equal(signed[0]?.nonce, signed[1]?.nonce);
      const balances = await stage.balances();
      assert.equal(balances.transactions, 1);
      return { happened: "the first transaction is never mined; its replacement on the same nonce is", balances };
    },
  },
  {
    number: 12,
    fault: "A batch is above the block's gas limit",
    injected: "`evm_setBlockGasLimit` of 500,000 before a batch of 12 payers is made",
    claim: "a batch that fits into no block is split until its parts do",
    async run(stage) {
      await stage.world.rpc("evm_setBlockGasLimit", [hexOf(500_000)]);
      try {
        await stage.start();
        await stage.recordTurns();
        await stage.settled();
        const balances = await stage.balances();
        assert.ok(balances.transactions > 1);
        assert.equal(balances.attempts, 0);
        return {
          happened: "the batch of 12 is taken apart before anything is signed, and settled in several",
          balances,
        };
      } finally {
        await stage.world.rpc("evm_setBlockGasLimit", [hexOf(200_000_000)]);
      }
    },
  },
  {
    number: 13,
    fault: "Gas estimation fails",
    injected: "the proxy answers every estimate that has one payer in it with a revert without a reason",
    claim: "the row that makes estimates fail is found by halving and set aside, and the others settle",
    async run(stage) {
      const bad = stage.payer(5).slice(2);
      await stage.start({ plan: { policy: { brokenRowWaitMs: 1_500 } } });
      const lift = stage.endpoint.rule({
        method: "eth_estimateGas",
        when: ({ params }) => JSON.stringify(params).includes(bad),
        action: { kind: "error", error: { code: 3, message: "execution reverted", data: "0x" } },
      });
      const turns = await stage.recordTurns();
      const [message] = await until("the alert", () => {
        const found = stage.daemon.alerts("row_set_aside");
        return found.length > 0 ? found : null;
      });
      assert.match(message ?? "", new RegExp(bad, "i"));
      await until("the others", async () => (await stage.finalTurns()) === turns.length - 1);
      lift();
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: `alert \`row_set_aside\` names the payer; ${PAYERS - 1} settle, the last when estimates work`,
        balances,
      };
    },
  },
  {
    number: 14,
    fault: "429 or 5xx",
    injected: "two endpoints; the first answers with 429 and Retry-After, and later with 503, to everything",
    claim: "an endpoint that fails is left alone for longer and longer, and the next one is used",
    async run(stage) {
      const second = await stage.addEndpoint();
      await stage.start({ endpoints: [stage.endpoint, second] });
      const status429 = { kind: "status", status: 429, headers: { "retry-after": "1" } } as const;
      const lift = stage.endpoint.rule({ method: null, action: status429 });
      await stage.recordTurns(6);
      await stage.settled();
      lift();
      stage.endpoint.rule({ method: null, action: { kind: "status", status: 503 } });
      const before = { first: stage.endpoint.asked.length, second: second.asked.length };
      await stage.recordTurns(6);
      await stage.settled();
      const asked = { first: stage.endpoint.asked.length - before.first, second: second.asked.length - before.second };
      assert.ok(
        asked.first * 4 < asked.second,
        `the failing endpoint was asked ${asked.first} of ${asked.second} times`,
      );
      for (const outcome of ["rate_limited", "http_status"]) {
        const name = `settlement_rpc_errors_total{endpoint="endpoint 1",outcome="${outcome}"}`;
        await until(`a count of ${outcome}`, async () => (await stage.metric(name)) > 0);
      }
      const balances = await stage.balances();
      return {
        happened: "the first endpoint is counted as failing and hardly asked; the second settles everything",
        balances,
      };
    },
  },
  {
    number: 15,
    fault: "An error with a misleading code",
    injected: "the node takes the first send; the proxy answers with code 3 (“reverted”) and the words “already known”",
    claim: "an error is read by what it says and not by its code",
    async run(stage) {
      await settleWith(stage, () => {
        stage.endpoint.rule({
          method: SEND,
          times: 1,
          action: {
            kind: "exchange",
            answer: ({ id }) => ({ jsonrpc: "2.0", id, error: { code: 3, message: "internal error: already known" } }),
          },
        });
      });
      assert.equal(stage.outcomes()[0], "already_known");
      assert.equal(stage.signed().length, 1);
      const balances = await stage.balances();
      assert.equal(balances.transactions, 1);
      return { happened: "logged as already_known, nothing signed again, one transaction", balances };
    },
  },
  {
    number: 16,
    fault: "A lagging replica answers with no receipt",
    injected:
      "for a second the proxy answers as of the moment of the send: no receipt, the old nonce, the root unsettled",
    claim: "no receipt is no verdict: the batch is neither abandoned nor signed on another nonce",
    async run(stage) {
      await stage.start();
      const nonce = await stage.world.provider.getTransactionCount(stage.operator.address);
      const before = await stage.world.provider.getBlock("latest");
      let lagging = false;
      stage.endpoint.rule({ method: SEND, times: 1, action: { kind: "after", first: async () => (lagging = true) } });
      const whileLagging = () => lagging;
      const stale = (method: string, result: unknown) =>
        stage.endpoint.rule({ method, when: whileLagging, action: { kind: "answer", result: () => result } });
      stale("eth_getTransactionReceipt", null);
      stale("eth_getTransactionCount", hexOf(nonce));
      stale("eth_call", `0x${"0".repeat(64)}`);
      await stage.recordTurns();
      const { batchId } = await stage.submitted();
      await until("the batch to be mined and final", async () => {
        const { number = 0 } = (await stage.world.provider.getBlock("finalized")) ?? {};
        return number > (before?.number ?? 0) + 5 && (await stage.world.router.settledAt(batchId)) > 0n;
      });
      assert.equal((await stage.batch(batchId)).state, "submitted");
      lagging = false;
      await stage.settled();
      assert.equal(stage.daemon.events("abandoned").length, 0);
      assert.equal(new Set(stage.signed().map((transaction) => transaction.nonce)).size, 1);
      const balances = await stage.balances();
      assert.equal(balances.transactions, 1);
      return {
        happened: "mined and final on chain, the batch stays `submitted` until the replica catches up",
        balances,
      };
    },
  },
  {
    number: 17,
    fault: "A wrong chain id at an endpoint",
    injected: "two endpoints; the first, preferred one answers `eth_chainId` with 1",
    claim: "an endpoint of another chain is refused and asked nothing else",
    async run(stage) {
      const second = await stage.addEndpoint();
      stage.endpoint.rule({ method: "eth_chainId", action: { kind: "answer", result: () => "0x1" } });
      await stage.start({ endpoints: [stage.endpoint, second] });
      await stage.recordTurns();
      await stage.settled();
      assert.deepEqual(
        stage.endpoint.asked.filter(({ method }) => method !== "eth_chainId"),
        [],
      );
      assert.equal(
        await stage.metric('settlement_rpc_errors_total{endpoint="endpoint 1",outcome="chain_mismatch"}'),
        1,
      );
      const balances = await stage.balances();
      return {
        happened: "the first endpoint is asked for its chain id and nothing more; the second settles",
        balances,
      };
    },
  },
  {
    number: 18,
    fault: "Cut-off or invalid JSON, a hanging connection",
    injected: "the first three sends: an answer cut in the middle, an answer that is HTML, and a connection that hangs",
    claim: "an answer that is none leaves a send unknown, and nothing is signed again for it",
    async run(stage) {
      await stage.start();
      for (const kind of ["truncate", "garble", "hang"] as const) {
        stage.endpoint.rule({ method: SEND, times: 1, action: { kind } });
      }
      for (let i = 0; i < 3; i++) {
        await stage.recordTurns(4);
        await stage.settled();
      }
      const unknown = stage.outcomes().filter((outcome) => outcome === "unknown");
      assert.equal(unknown.length, 3);
      assert.equal(stage.signed().length, 3);
      const balances = await stage.balances();
      assert.equal(balances.transactions, 3);
      return { happened: "three sends logged as unknown; three batches, three transactions", balances };
    },
  },
];

export const rpcFaults: FaultGroup = { name: "RPC and mempool", cases };

async function mempoolSize({ world }: Stage): Promise<number> {
  const { pending, queued } = (await world.rpc("txpool_status")) as { pending: string; queued: string };
  return Number(pending) + Number(queued);
}
