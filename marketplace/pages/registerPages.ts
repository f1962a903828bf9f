import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Catalogue } from "../discovery/createCatalogue.ts";
import { toolView } from "../discovery/toolView.ts";
import { CATEGORIES } from "../registry/listing.ts";
import type { Earnings } from "../settlement/createSettlementClient.ts";
import { accountPage } from "./accountPage.ts";
import { askPage } from "./askPage.ts";
import { helpPage } from "./helpPage.ts";
import { type Html, html } from "./html/html.ts";
import { type Frame, layout } from "./layout.ts";
import { searchPage } from "./searchPage.ts";
import { toolPage } from "./toolPage.ts";

export type PagesOptions = {
  catalogue: Catalogue;
  // What a tool has earned; null if nobody says so in time.
  earningsOf: (toolId: string) => Promise<Earnings | null>;
  publicUrl: string;
  // Lets whoever is not authenticated in, or throws.
  admit: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
};

// There is no script at all, and nothing comes from elsewhere: what a tool says of itself has no way to act. The page that asks and the
// account's have one, our own file, which talks to nobody but us.
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const SCRIPT_POLICY = `${POLICY}; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'`;
const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
} as const;
const HTML_TYPE = "text/html; charset=utf-8";
const PERMANENTLY = "public, max-age=31536000, immutable";
const MAX_SHOWN = 48;
const MAX_EXAMPLES = 4;
const VERSION_LENGTH = 16;

const ASSETS = [
  ["style.css", "text/css; charset=utf-8"],
  ["icon.svg", "image/svg+xml"],
  ["ask.js", "text/javascript; charset=utf-8"],
  ["account.js", "text/javascript; charset=utf-8"],
] as const;

const one = z.string().max(400).catch("");
const searchQuery = z.object({ q: one.default(""), category: z.enum(CATEGORIES).nullable().catch(null).default(null) });
const askQuery = z.object({ q: z.string().max(4_000).catch("").default("") });
const toolQuery = z.object({ method: one.default("") });
const params = z.object({ id: z.guid().transform((text) => text.toLowerCase()) });

// The pages that people see: search, one for each tool, one to ask, and those of the account. They are drawn here, from what the API answers.
export function registerPages(app: FastifyInstance, { catalogue, earningsOf, publicUrl, admit }: PagesOptions): void {
  const files = ASSETS.map(([name, contentType]) => {
    return { name, contentType, body: readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8") };
  });
  // A folder for every version, so that files are kept permanently and never go with another page.
  const assets = `/assets/${hash("sha256", JSON.stringify(files)).slice(0, VERSION_LENGTH)}`;
  for (const { name, contentType, body } of files) {
    app.get(`${assets}/${name}`, async (_request, reply) =>
      reply.headers({ ...HEADERS, "content-type": contentType, "cache-control": PERMANENTLY }).send(body),
    );
  }

  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => void (await admit(request, reply));
  const send = (reply: FastifyReply, title: string, body: Html, place?: string) =>
    reply
      .headers({ ...HEADERS, "content-type": HTML_TYPE, "cache-control": "no-cache" })
      .send(layout({ title, assets, body, ...(place !== undefined && { place }) }).markup);

  const sendWithScript = (reply: FastifyReply, frame: Omit<Frame, "assets">) =>
    reply
      .headers({
        ...HEADERS,
        "content-security-policy": SCRIPT_POLICY,
        "content-type": HTML_TYPE,
        "cache-control": "no-cache",
      })
      .send(layout({ ...frame, assets }).markup);

  const sendMissing = (reply: FastifyReply, what: string) =>
    send(
      reply.code(404),
      "Nothing · Context marketplace",
      html`<h1>${what}</h1><p class="empty"><a href="/">See all tools</a></p>`,
    );

  // People who went astray are shown the way back; programs are told by JSON.
  app.get("/*", async (request, reply) => {
    const isPerson = request.headers.accept?.includes("text/html") && !request.url.startsWith("/api/");
    return isPerson ? sendMissing(reply, "There is no such page") : reply.callNotFound();
  });

  app.get("/", { onRequest }, async (request, reply) => {
    const { q, category } = searchQuery.parse(request.query);
    const text = q.trim();
    const found = catalogue.search({
      ...(text !== "" && { text }),
      limit: MAX_SHOWN + 1,
      ...(category !== null && { among: idsIn(catalogue, category) }),
    });
    const tools = found.slice(0, MAX_SHOWN).map(({ listing }) => toolView(listing));
    const page = searchPage({ text, category, tools, isCut: found.length > MAX_SHOWN, baseUrl: publicUrl });
    return send(reply, text === "" ? "Context marketplace" : `${text} · Context marketplace`, page, "/");
  });

  app.get("/ask", { onRequest }, async (request, reply) => {
    const { q } = askQuery.parse(request.query);
    const examples = catalogue
      .search({ limit: MAX_SHOWN })
      .flatMap(({ listing }) => listing.suggestedPrompts.slice(0, 1).map(({ text }) => text))
      .slice(0, MAX_EXAMPLES);
    const body = askPage({ question: q.trim(), examples, baseUrl: publicUrl });
    return sendWithScript(reply, { title: "Ask · Context marketplace", body, place: "/ask", script: "ask.js" });
  });

  app.get("/account", { onRequest }, async (_request, reply) =>
    sendWithScript(reply, {
      title: "Account · Context marketplace",
      body: accountPage(),
      place: "/account",
      script: "account.js",
    }),
  );

  app.get("/help", { onRequest }, async (_request, reply) =>
    send(reply, "Help · Context marketplace", helpPage(), "/help"),
  );

  app.get("/tools/:id", { onRequest }, async (request, reply) => {
    const { method } = toolQuery.parse(request.query);
    const known = params.safeParse(request.params);
    const listing = known.success ? await catalogue.find(known.data.id) : null;
    if (listing === null) return sendMissing(reply, "There is no such tool");
    const earnings = await earningsOf(listing.toolId);
    const page = toolPage({ listing, chosen: method, earnings, baseUrl: publicUrl });
    return send(reply, `${listing.name} · Context marketplace`, page);
  });
}

function idsIn(catalogue: Catalogue, category: string): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const listing of catalogue.all()) if (listing.category === category) ids.add(listing.toolId);
  return ids;
}
