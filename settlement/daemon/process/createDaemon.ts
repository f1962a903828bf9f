import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { createLogin } from "../../console/login.ts";
import { readinessSchema } from "../../views/service/readiness.ts";
import { createAuthenticate } from "../http/gate/authenticate.ts";
import { createRateLimit } from "../http/gate/rateLimit.ts";
import { registerRoutes } from "../http/registerRoutes.ts";
import type { Route, Services } from "../http/route.ts";
import { createServer } from "../http/server/createServer.ts";
import type { Metrics } from "../observability/metrics.ts";
import { registerConsole } from "../routes/console.ts";
import { registerDocs } from "../routes/docs.ts";
import { registerHealth } from "../routes/health.ts";
import { routes as allRoutes } from "../routes/index.ts";
import { registerMetrics } from "../routes/metrics.ts";

export type DaemonOptions = {
  services: Services;
  serviceToken: string;
  // Absent: no console, and nothing of the ledger is public.
  console?: { token: string | null; marketplaceUrl?: string | null };
  log: FastifyBaseLogger;
  metrics: Metrics;
  routes?: readonly Route[];
};

export type Daemon = {
  // Not listening yet. Whatever else is served is registered on it before it is.
  app: FastifyInstance;
  // From now on nothing is written any more; what is running is finished by `close`.
  drain(): void;
  close(): Promise<void>;
};

const UNAUTHENTICATED_PER_SECOND = 10;
// An open page of the console asks about once in two seconds.
const PUBLIC_PER_SECOND = 50;

// The HTTP API around an opened engine.
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const { services, serviceToken, log, metrics, routes = allRoutes } = options;
  const { clock, readiness } = services;
  const login = options.console ? createLogin({ token: options.console.token, clock }) : null;
  const limitUnauthenticated = createRateLimit({ perSecond: UNAUTHENTICATED_PER_SECOND, clock });
  let draining = false;

  const { app, close } = createServer({ log, observeRequest: metrics.observeRequest });
  await registerDocs(app);
  registerRoutes(app, routes, services, {
    authenticate: createAuthenticate({ serviceToken, login }),
    limitUnauthenticated,
    limitPublic: createRateLimit({ perSecond: PUBLIC_PER_SECOND, clock }),
    isDraining: () => draining,
  });
  registerHealth(app, readinessSchema, readiness, () => draining);
  registerMetrics(app, metrics);
  if (login !== null) {
    registerConsole(app, { login, limitUnauthenticated, marketplaceUrl: options.console?.marketplaceUrl ?? null });
  }

  return {
    app,
    drain() {
      draining = true;
    },
    close,
  };
}
