import { expect, it } from "vitest";
import { inspectChain } from "./inspectChain.ts";

it("an endpoint that does not answer is a chain that is unavailable, and worth another try", async () => {
  const router = "0x00000000000000000000000000000000000000aa";
  const inspection = inspectChain({ chainId: 8453, rpcUrls: ["http://127.0.0.1:1"], router });
  const unavailable = { code: "chain_unavailable", retryable: true };
  await expect(inspection.operatorLimit(router)).rejects.toMatchObject(unavailable);
  await expect(inspection.tools([])).rejects.toMatchObject(unavailable);
});
