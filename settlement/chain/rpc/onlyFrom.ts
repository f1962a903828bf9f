import type { PublicClient } from "viem";
import { byHash } from "../blocks/createBlockReads.ts";
import type { Block } from "../chain.ts";
import { createRpcClient } from "./createRpcClient.ts";
import type { Endpoints } from "./endpoints.ts";

// How long one endpoint may take beside others.
const PATIENCE_MS = 10_000;

// viem over one of several endpoints, where each is asked and nobody else answers in its place. With a block, calls are made at that very
// block.
export function onlyFrom(endpoints: Pick<Endpoints, "askOne">, name: string, block?: Block): PublicClient {
  return createRpcClient({
    async read(method, params) {
      const asked = block === undefined ? params : [params[0], byHash(block)];
      const answer = await endpoints.askOne(name, method, asked, PATIENCE_MS);
      if (answer.kind === "result") return answer.result;
      throw answer.kind === "error" ? answer.error : new Error(answer.reason);
    },
  });
}
