import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../../settlement/clock.ts";
import type { Store } from "../database/openStore.ts";
import type { Catalogue } from "../discovery/createCatalogue.ts";
import type { McpClient } from "../mcp/createMcpClient.ts";
import type { Judge } from "../schema/createJudge.ts";
import type { SettlementClient } from "../settlement/createSettlementClient.ts";
import type { ContextProviders } from "./injectContext.ts";

// What it takes to call tools for somebody who pays, whether it is by Execute or by Query.
export type PaidCalls = {
  store: Store;
  clock: Clock;
  catalogue: Catalogue;
  settlement: SettlementClient;
  mcp: McpClient;
  judge: Judge;
  sign: (request: { endpoint: string; toolId: string; payer: string }) => Promise<string>;
  providers: ContextProviders;
  publicUrl: string;
  holder: string;
  log: FastifyBaseLogger;
};
