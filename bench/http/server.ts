// The daemon's server with its log on, and one more route that asks for the same token, checks the same body and does nothing.
import type { Address } from "viem";
import { z } from "zod";
import { systemClock } from "../../settlement/clock.ts";
import { route } from "../../settlement/daemon/http/route.ts";
import { createLogger } from "../../settlement/daemon/observability/createLogger.ts";
import { createMetrics } from "../../settlement/daemon/observability/metrics.ts";
import { createDaemon } from "../../settlement/daemon/process/createDaemon.ts";
import { createServices } from "../../settlement/daemon/process/createServices.ts";
import { routes } from "../../settlement/daemon/routes/index.ts";
import { parseUsd } from "../../settlement/domain/money.ts";
import { DEFAULT_POLICY } from "../../settlement/engine/policy.ts";
import { openEngine } from "../../settlement/openEngine.ts";

export type ServerOptions = { chainId: number; rpcUrl: string; router: Address; ledger: string; serviceToken: string };

const { rpcUrl, serviceToken, ...options }: ServerOptions = JSON.parse(process.argv[2] ?? "{}");
const clock = systemClock;
const taking = routes.find(({ method, path }) => method === "POST" && path === "/v1/turns");
if (taking?.body === undefined) throw new Error("turns have no body");
const empty = route({
  method: "POST",
  path: "/v1/empty",
  access: "platform",
  summary: "Nothing",
  body: taking.body,
  answer: z.object({}),
  handle: async () => ({ body: {} }),
});
const rpcUrls = [rpcUrl];
// Nothing is settled here, so that all credit is used once.
const credit = { ...DEFAULT_POLICY.credit, base: parseUsd("1000000") };
const { engine, ledger, chain } = await openEngine({
  ...options,
  rpcUrls,
  keys: [],
  holder: "bench",
  policy: { credit },
});
const readiness = async () => {
  throw new Error("nobody asks here");
};
const { app } = await createDaemon({
  services: createServices({
    engine,
    ledger,
    chain,
    clock,
    readiness,
    rpcUrls,
    router: options.router,
    fromBlock: 0n,
    helpUrl: null,
    sessionTtlMs: 3_600_000,
  }),
  serviceToken,
  log: createLogger({ level: "info", secrets: [serviceToken] }).log,
  metrics: createMetrics(clock),
  routes: [...routes, empty],
});
process.send?.(await app.listen({ host: "127.0.0.1", port: 0 }));
