import type { TransactionRequest } from "ethers";

// Many transactions at once on a chain of one's own, without a signature for each.

export type Sender = { from: string; transactions: readonly Promise<TransactionRequest>[] };

const TRANSACTION_GAS = 300_000;
const MAX_BLOCKS_PER_STEP = 64;
const REQUESTS_PER_POST = 500;

// Anybody's transactions are taken in without a signature meanwhile, because a thousand signatures take their time.
export async function withImpersonation<T>(url: string, work: () => Promise<T>): Promise<T> {
  await post(url, [["anvil_autoImpersonateAccount", [true]]]);
  await post(url, [["evm_setAutomine", [false]]]);
  const result = await work();
  await post(url, [["evm_setAutomine", [true]]]);
  await post(url, [["anvil_autoImpersonateAccount", [false]]]);
  return result;
}

// Puts every transaction into the mempool, mines until it is empty, and makes sure that each has succeeded.
export async function mineAll(url: string, senders: readonly Sender[]): Promise<void> {
  const nonces = await post(
    url,
    senders.map(({ from }) => ["eth_getTransactionCount", [from, "latest"]]),
  );
  const requests = await Promise.all(
    senders.flatMap(({ from, transactions }, i) =>
      transactions.map(async (transaction, j): Promise<RpcRequest> => {
        const { to, data } = await transaction;
        const nonce = Number(nonces[i]) + j;
        return ["eth_sendTransaction", [{ from, to, data, nonce: toHex(nonce), gas: toHex(TRANSACTION_GAS) }]];
      }),
    ),
  );
  const hashes = await post(url, requests);
  for (let block = 0; block < MAX_BLOCKS_PER_STEP; block += 1) {
    const [status] = (await post(url, [["txpool_status", []]])) as [{ pending: string }];
    if (Number(status.pending) === 0) break;
    await post(url, [["evm_mine", []]]);
  }
  const receipts = (await post(
    url,
    hashes.map((hash) => ["eth_getTransactionReceipt", [hash]]),
  )) as ({ status: string } | null)[];
  const failed = receipts.findIndex((receipt) => receipt?.status !== "0x1");
  if (failed !== -1) throw new Error(`transaction ${hashes[failed]} of the local chain's setup failed`);
}

export type RpcRequest = readonly [method: string, params: readonly unknown[]];

export async function post(url: string, requests: readonly RpcRequest[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (let start = 0; start < requests.length; start += REQUESTS_PER_POST) {
    const some = requests.slice(start, start + REQUESTS_PER_POST);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(some.map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }))),
    });
    const answers = (await response.json()) as { id: number; result?: unknown; error?: { message: string } }[];
    for (const { error, result } of answers.toSorted((a, b) => a.id - b.id)) {
      if (error) throw new Error(error.message);
      results.push(result);
    }
  }
  return results;
}

export const toHex = (value: number | bigint) => `0x${value.toString(16)}`;
