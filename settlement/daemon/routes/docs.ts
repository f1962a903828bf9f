import type { FastifyInstance } from "fastify";
import { type OpenApi, openApiOf } from "../openApi.ts";
import type { Route } from "../route.ts";

// The document for programs and a page for people, which needs nothing from elsewhere.
export function registerDocs(app: FastifyInstance, routes: readonly Route[]): void {
  const document = openApiOf(routes);
  const page = pageOf(document, routes);
  app.get("/openapi.json", async () => document);
  app.get("/docs", async (_request, reply) =>
    reply
      .headers({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
      })
      .send(page),
  );
}

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
summary { cursor: pointer; padding: .4rem 0 } code, pre { font: 14px/1.5 ui-monospace, monospace }
pre { overflow: auto; padding: .75rem; border: 1px solid #8884; border-radius: .4rem } .access { opacity: .7 }`;

function pageOf({ info, paths }: OpenApi, routes: readonly Route[]): string {
  const sections = routes.map((route) => {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    const operation = paths[path]?.[route.method.toLowerCase()];
    return `<details><summary><code>${route.method} ${escaped(path)}</code> <span class="access">${route.access}</span><br>
${escaped(route.summary)}</summary><pre>${escaped(JSON.stringify(operation, undefined, 2))}</pre></details>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(info.title)}</title><style>${STYLE}</style></head><body><h1>${escaped(info.title)}</h1>
<p>${escaped(info.description)} <a href="/openapi.json">openapi.json</a></p>${sections.join("\n")}</body></html>`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? "");
