import { hash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Login } from "../../console/login.ts";
import { readAssets } from "../../console/readAssets.ts";
import { ApiError } from "../http/errors.ts";
import type { RateLimit } from "../http/gate/rateLimit.ts";
import { enforceRateLimit } from "../http/registerRoutes.ts";
import { validate } from "../http/validate.ts";

// Nothing from elsewhere, nothing inline, in nobody's frame. The marketplace may be asked for its listings.
const policyFor = (marketplace: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'${marketplace}; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SECURITY_HEADERS = {
  "content-security-policy": policyFor(""),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

const FOR_EVER = "public, max-age=31536000, immutable";

const loginBody = z.strictObject({ token: z.string("must be a text").max(1_000, "is too long") });

export type ConsoleOptions = { login: Login; limitUnauthenticated: RateLimit; marketplaceUrl: string | null };

// The page, its files, and the way in and out.
export function registerConsole(
  app: FastifyInstance,
  { login, limitUnauthenticated, marketplaceUrl }: ConsoleOptions,
): void {
  const { files, version, ...assets } = readAssets();
  const marketplace = marketplaceUrl === null ? null : new URL(marketplaceUrl);
  // An address as URLs are written has no character that would end an attribute.
  const body = assets.page.body.replace("{marketplace}", marketplace?.href.replace(/\/$/, "") ?? "");
  const page = { ...assets.page, body, etag: `"${hash("sha256", body)}"` };
  const pageHeaders = {
    ...SECURITY_HEADERS,
    "content-security-policy": policyFor(marketplace === null ? "" : ` ${marketplace.origin}`),
  };

  app.get("/", async (_request, reply) => reply.redirect("/console", 302));
  for (const path of ["/console", "/console/"]) {
    app.get(path, async (request, reply) => {
      reply.headers(pageHeaders).headers({ etag: page.etag, "cache-control": "no-cache" });
      if (request.headers["if-none-match"] === page.etag) return reply.code(304).send();
      return reply.header("content-type", page.contentType).send(page.body);
    });
  }
  for (const [path, asset] of files) {
    app.get(`/console/${version}/${path}`, async (_request, reply) =>
      reply
        .headers(SECURITY_HEADERS)
        .headers({ "content-type": asset.contentType, "cache-control": FOR_EVER })
        .send(asset.body),
    );
  }

  app.get("/console/login", async (request, reply) => {
    reply.header("cache-control", "no-store");
    return { possible: login.possible, loggedIn: login.accepts(request.headers.cookie) };
  });
  app.post("/console/login", async (request, reply) => {
    // Every try counts, because a guess that is right looks like any other.
    enforceRateLimit(limitUnauthenticated(request.ip), reply);
    const { token } = validate(loginBody, request.body) as z.output<typeof loginBody>;
    if (!login.possible) {
      throw new ApiError("unauthorized", "nobody can log in here: SETTLEMENT_CONSOLE_TOKEN is not set");
    }
    const cookie = login.cookieFor(token, isSecure(request));
    if (cookie === null) throw new ApiError("unauthorized", "this is not the console's token");
    return answer(reply, cookie, true);
  });
  app.post("/console/logout", async (request, reply) => answer(reply, login.expiredCookie(isSecure(request)), false));

  const answer = (reply: FastifyReply, cookie: string, loggedIn: boolean) =>
    reply.headers({ "set-cookie": cookie, "cache-control": "no-store" }).send({ possible: login.possible, loggedIn });
}

// Behind a proxy that speaks TLS this side sees plain HTTP. Whoever lies about it only loses its own cookie.
function isSecure({ protocol, headers }: FastifyRequest): boolean {
  return protocol === "https" || headers["x-forwarded-proto"] === "https";
}
