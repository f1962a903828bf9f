import { type Address, isAddress } from "viem";
import { SettlementError } from "../domain/errors.ts";
import { createBlockReads } from "./blocks/createBlockReads.ts";
import type { Chain } from "./chain.ts";
import { createCourtReads } from "./court/createCourtReads.ts";
import { createAccountReads } from "./router/createAccountReads.ts";
import { createBatchReads } from "./router/createBatchReads.ts";
import { createTokenReads } from "./router/createTokenReads.ts";
import { createToolReads } from "./router/createToolReads.ts";
import { isSigned } from "./router/isSigned.ts";
import { simulate } from "./router/simulate.ts";
import { verifyRouter } from "./router/verifyRouter.ts";
import { allAnswered, answered } from "./rpc/answered.ts";
import { createRpcClient } from "./rpc/createRpcClient.ts";
import { createEndpoints, type EndpointsOptions } from "./rpc/endpoints.ts";
import { sendRaw } from "./rpc/sendRaw.ts";
import { createSurvey } from "./rpc/survey.ts";

export type ChainOptions = EndpointsOptions & {
  router: Address;
  // For nodes that do not know the `finalized` tag: blocks this deep are taken for final instead.
  finalityDepthBlocks?: bigint;
  // The most gas of one transaction; EIP-7825's by default.
  maxTransactionGas?: bigint;
  // The most blocks that one search of logs may cover; providers set such limits.
  maxLogRangeBlocks?: bigint;
};

const MAX_TRANSACTION_GAS = 2n ** 24n;
const MAX_LOG_RANGE_BLOCKS = 2_000n;

// The chain behind a set of RPC endpoints. It is refused unless the router is there and answers.
export async function createChain(options: ChainOptions): Promise<Chain> {
  const { chainId, router, finalityDepthBlocks, clock, compared } = options;
  const { maxTransactionGas = MAX_TRANSACTION_GAS, maxLogRangeBlocks = MAX_LOG_RANGE_BLOCKS } = options;
  if (!isAddress(router)) {
    throw new SettlementError("invalid_config", `the router's address ${router} is not an address`);
  }
  const endpoints = createEndpoints(options);
  const client = createRpcClient(endpoints);
  const survey = createSurvey({ endpoints, clock, finalityDepthBlocks, compared });
  const { insurance, usdc, staking, court } = await answered(() => verifyRouter(client, chainId, router))();
  return {
    chainId,
    router,
    insurance,
    court,
    ...allAnswered({
      ...createBlockReads({ endpoints, client, finalityDepthBlocks, maxTransactionGas, survey }),
      ...createBatchReads({ endpoints, client, router, court, maxLogRangeBlocks }),
      ...createCourtReads({ endpoints, court }),
      ...createAccountReads({ endpoints, client, router, survey }),
      ...createTokenReads({ client, router, usdc }),
      ...createToolReads({ endpoints, client, staking, survey }),
      isSigned: (question: Parameters<Chain["isSigned"]>[0]) => isSigned(endpoints, question),
      priorityFee: () => client.estimateMaxPriorityFeePerGas(),
      simulate: (call: Parameters<Chain["simulate"]>[0]) => simulate(endpoints, call, maxTransactionGas),
    }),
    send: (raw) => sendRaw(endpoints, raw),
  };
}
