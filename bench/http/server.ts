// The daemon's server with its log on, and one more route that asks for the same token and does nothing.
import type { Address } from "viem";
import { systemClock } from "../../settlement/clock.ts";
import { createDaemon } from "../../settlement/daemon/createDaemon.ts";
import { createLogger } from "../../settlement/daemon/createLogger.ts";
import { createServices } from "../../settlement/daemon/createServices.ts";
import { createMetrics } from "../../settlement/daemon/metrics.ts";
import { route } from "../../settlement/daemon/route.ts";
import { routes } from "../../settlement/daemon/routes/index.ts";
import { openEngine } from "../../settlement/openEngine.ts";

export type ServerOptions = { chainId: number; rpcUrl: string; router: Address; ledger: string; serviceToken: string };

const { rpcUrl, serviceToken, ...options }: ServerOptions = JSON.parse(process.argv[2] ?? "{}");
const clock = systemClock;
const empty = route({
  method: "POST",
  path: "/v1/empty",
  access: "platform",
  summary: "Nothing",
  handle: async () => ({ body: {} }),
});
const rpcUrls = [rpcUrl];
const { engine, ledger, chain } = await openEngine({ ...options, rpcUrls, keys: [], holder: "bench" });
const readiness = async () => {
  throw new Error("nobody asks here");
};
const { app } = createDaemon({
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
  rateLimitPerSecond: 50,
  log: createLogger({ level: "info", secrets: [serviceToken] }).log,
  metrics: createMetrics(clock),
  routes: [...routes, empty],
});
process.send?.(await app.listen({ host: "127.0.0.1", port: 0 }));
