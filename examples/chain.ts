import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  type Address,
  createPublicClient,
  erc20Abi,
  formatEther,
  formatUnits,
  type Hash,
  http,
  type PublicClient,
} from "viem";
import { z } from "zod";
import { answer, method } from "./method.ts";

export type ChainOptions = { rpcUrl: string; usdc: Address };

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .describe("an account or a contract")
  .meta({ examples: ["0x0000000000000000000000000000000000000000"] });
// Numbers of a chain do not fit into JSON's, so they are texts.
const whole = z.string().regex(/^\d+$/);
const decimal = z.string().regex(/^\d+(\.\d+)?$/);

// The node behind it is the bottleneck, and says so.
const rateLimit = { maxConcurrency: 16 };
const latencyClass = "fast";

// What stands on a chain, for those who run no node.
export function createChain({ rpcUrl, usdc }: ChainOptions): () => McpServer {
  const client = createPublicClient({ transport: http(rpcUrl) });
  return () => createServer(client, usdc);
}

function createServer(client: PublicClient, usdc: Address): McpServer {
  const server = new McpServer({ name: "chain", version: "1.0.0" });

  server.registerTool(
    "get_block",
    method({
      description: "The newest block, or one by its number: hash, time, transactions, gas.",
      price: "0.001",
      latencyClass,
      rateLimit,
      input: { number: whole.optional().describe("the block's number; the newest if it is left out") },
      output: {
        number: whole,
        hash: z.string(),
        time: z.string().describe("ISO 8601"),
        transactions: z.number().int(),
        gasUsed: whole,
        gasLimit: whole,
      },
    }),
    async ({ number }) => {
      const block = await client.getBlock(number === undefined ? {} : { blockNumber: BigInt(number) });
      return answer({
        number: `${block.number}`,
        hash: block.hash,
        time: new Date(Number(block.timestamp) * 1_000).toISOString(),
        transactions: block.transactions.length,
        gasUsed: `${block.gasUsed}`,
        gasLimit: `${block.gasLimit}`,
      });
    },
  );

  server.registerTool(
    "get_balances",
    method({
      description: "What an account holds in the chain's own currency and in USDC.",
      price: "0.001",
      latencyClass,
      rateLimit,
      input: { address },
      output: { address: z.string(), native: decimal, usdc: decimal, block: whole },
    }),
    async ({ address }) => {
      const account = address as Address;
      // Both as of one block, so that they belong together.
      const blockNumber = await client.getBlockNumber();
      const [native, token] = await Promise.all([
        client.getBalance({ address: account, blockNumber }),
        client.readContract({ address: usdc, abi: erc20Abi, functionName: "balanceOf", args: [account], blockNumber }),
      ]);
      return answer({ address, native: formatEther(native), usdc: formatUnits(token, 6), block: `${blockNumber}` });
    },
  );

  server.registerTool(
    "get_gas_prices",
    method({
      description: "The base fee of the next block and the tip that is usual, in wei.",
      price: "0.0005",
      latencyClass,
      rateLimit,
      input: {},
      output: { baseFeePerGas: whole, maxPriorityFeePerGas: whole },
    }),
    async () => {
      const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas();
      return answer({
        baseFeePerGas: `${maxFeePerGas - maxPriorityFeePerGas}`,
        maxPriorityFeePerGas: `${maxPriorityFeePerGas}`,
      });
    },
  );

  server.registerTool(
    "get_transaction",
    method({
      description: "Whether a transaction was mined, in which block, whether it succeeded, and what it cost in wei.",
      price: "0.001",
      latencyClass,
      rateLimit,
      input: {
        hash: z
          .string()
          .regex(/^0x[0-9a-fA-F]{64}$/)
          .meta({ examples: [`0x${"0".repeat(64)}`] }),
      },
      output: { status: z.enum(["unknown", "success", "reverted"]), block: whole.nullable(), fee: whole.nullable() },
    }),
    async ({ hash }) => {
      const receipt = await client.getTransactionReceipt({ hash: hash as Hash }).catch(() => null);
      return answer(
        receipt === null
          ? { status: "unknown", block: null, fee: null }
          : {
              status: receipt.status,
              block: `${receipt.blockNumber}`,
              fee: `${receipt.gasUsed * receipt.effectiveGasPrice}`,
            },
      );
    },
  );

  return server;
}
