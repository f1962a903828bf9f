import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createRateLimit } from "../../settlement/daemon/http/gate/rateLimit.ts";
import { createServer } from "../../settlement/daemon/http/server/createServer.ts";
import { registerDocs } from "../../settlement/daemon/routes/docs.ts";
import { registerHealth } from "../../settlement/daemon/routes/health.ts";
import { allowBrowsers } from "../api/allowBrowsers.ts";
import { createAuthenticate } from "../api/authenticate.ts";
import { limitNetworks } from "../api/networkOf.ts";
import { admit, MAX_PACED_MS, OPEN_API, readerOfAdmitted, registerRoutes } from "../api/registerRoutes.ts";
import type { Services } from "../api/route.ts";
import { routes } from "../api/routes/index.ts";
import { boundDeliveries } from "../delivery/boundDeliveries.ts";
import { boundRequests, type RequestBounds } from "../delivery/boundRequests.ts";
import { createDeliveries, type DeliveriesOptions } from "../delivery/createDeliveries.ts";
import { registerFront } from "../front/registerFront.ts";
import { MAX_ANSWER_BYTES } from "../mcp/createMcpClient.ts";
import { type PagesOptions, registerPages } from "../pages/registerPages.ts";
import type { MarketMetrics } from "./metrics.ts";
import { type Readiness, readinessSchema } from "./readiness.ts";
import { registerOwnMetrics } from "./registerOwnMetrics.ts";

export type MarketplaceOptions = {
  services: Services;
  earningsOf: PagesOptions["earningsOf"];
  readiness: Readiness;
  rateLimitPerSecond: number;
  trustedProxies: string[];
  log: FastifyBaseLogger;
  metrics: MarketMetrics;
  metricsToken: string | null;
  deliveries?: DeliveriesOptions & { stalledMs: number };
  requests?: RequestBounds;
};

export type Marketplace = {
  // Not listening yet. Whatever else is served is registered on it before it is.
  app: FastifyInstance;
  // From now on nothing is written any more; what is running is finished by `close`.
  drain(): void;
  // How much was answered and is not read yet, in bytes.
  undelivered(): number;
  // How much was sent, in long bodies, and is not answered yet, in bytes.
  unanswered(): number;
  close(): Promise<void>;
};

const UNAUTHENTICATED_PER_SECOND = 10;
const ANYBODY_PER_SECOND = 20;
// A site of IPv6 has 65,536 networks, and may ask as often as so many of them.
const NETWORKS_OF_A_SITE = 8;
// Arguments of a tool may be large; what a tool answers has no bound here.
const MAX_BODY_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;
const DOCUMENTS = /^\/(docs|openapi\.json)(?![\w-])/;
// A tool may take a minute, before and after which settlement is asked.
const ANSWER_TIMEOUT_MS = 120_000;

// Several of the largest answers for one reader, as many for all as a machine has room for, and how long somebody may take nothing of it.
const DELIVERIES = {
  maxBytes: 512 * 1024 * 1024,
  maxBytesOfReader: 96 * 1024 * 1024,
  maxAnswerBytes: MAX_ANSWER_BYTES,
  stalledMs: 30_000,
};

// What is sent takes some five times as much memory once it is read.
const REQUESTS = {
  maxBytes: 128 * 1024 * 1024,
  maxBytesOfReader: 16 * 1024 * 1024,
  maxBodyBytes: MAX_BODY_BYTES,
};

// The HTTP API around opened services.
export async function createMarketplace(options: MarketplaceOptions): Promise<Marketplace> {
  const { services, earningsOf, readiness, rateLimitPerSecond, trustedProxies, log, metrics } = options;
  const { store, clock, catalogue, publicUrl } = services;
  let draining = false;
  const { app, close } = createServer({
    log,
    observeRequest: metrics.observeRequest,
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
    limits: {
      maxBodyBytes: MAX_BODY_BYTES,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      connectionTimeoutMs: 2 * ANSWER_TIMEOUT_MS,
    },
    trustProxy: trustedProxies,
  });
  const { stalledMs, ...bounds } = options.deliveries ?? DELIVERIES;
  const deliveries = createDeliveries(bounds);
  const limitAddresses = (perSecond: number) =>
    limitNetworks(
      createRateLimit({ perSecond, clock }),
      createRateLimit({ perSecond: NETWORKS_OF_A_SITE * perSecond, clock }),
    );
  const gate = {
    authenticate: createAuthenticate({ store, clock }),
    limitAccount: createRateLimit({ perSecond: rateLimitPerSecond, clock }),
    paceAccount: createRateLimit({ perSecond: rateLimitPerSecond, maxWaitMs: MAX_PACED_MS, clock }),
    limitAnybody: limitAddresses(ANYBODY_PER_SECOND),
    limitUnauthenticated: limitAddresses(UNAUTHENTICATED_PER_SECOND),
    isDraining: () => draining,
    deliveries,
  };
  const { unanswered } = boundRequests(app, options.requests ?? REQUESTS, readerOfAdmitted);
  boundDeliveries(app, { deliveries, stalledMs, readerOf: readerOfAdmitted });
  const admitReader = (request: FastifyRequest, reply: FastifyReply) =>
    admit({ method: "GET", access: "anybody" }, request, reply, gate);
  // Before the documents are registered, whose routes are not ours.
  app.addHook("onRequest", async (request, reply) => {
    if (DOCUMENTS.test(request.routeOptions.url ?? "")) await admitReader(request, reply);
  });
  await registerDocs(app, OPEN_API);
  allowBrowsers(app);
  registerRoutes(app, routes, services, gate);
  registerFront(app, {
    version: OPEN_API.info.version,
    admit: (request, reply) => admit({ method: "POST", access: "anybody", paced: "messages" }, request, reply, gate),
  });
  registerPages(app, {
    catalogue,
    earningsOf,
    publicUrl,
    admit: admitReader,
  });
  registerHealth(app, readinessSchema, readiness, () => draining);
  const { limitUnauthenticated } = gate;
  registerOwnMetrics(app, { metrics, token: options.metricsToken, limitUnauthenticated });
  return {
    app,
    drain() {
      draining = true;
    },
    undelivered: deliveries.undelivered,
    unanswered,
    close,
  };
}
