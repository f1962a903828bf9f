import type { ToolView } from "../discovery/toolView.ts";
import { CATEGORIES } from "../registry/listing.ts";
import { type Html, html } from "./html/html.ts";
import { badges, cheapestOf, percent, plural } from "./stats.ts";

export type Search = {
  text: string;
  category: string | null;
  tools: readonly ToolView[];
  // Whether there may be more than are shown.
  isCut: boolean;
  baseUrl: string;
};

export function searchPage({ text, category, tools, isCut, baseUrl }: Search): Html {
  const isFirst = text === "" && category === null;
  return html`
    <section class="hero">
      <h1>Tools that agents pay for by the call</h1>
      <p>Find one, call it, and pay for what it delivered: a tenth of a cent at a time, in USDC, without a subscription.</p>
      <form class="search" action="/" role="search">
        <label class="unseen" for="q">Search tools</label>
        <input id="q" name="q" type="search" value="${text}" maxlength="400" placeholder="Gas prices, business days, correlation …">
        ${category !== null && html`<input type="hidden" name="category" value="${category}">`}
        <button type="submit">Search</button>
      </form>
      <nav class="chips" aria-label="Categories">
        ${chip(null, "All", category, text)}
        ${CATEGORIES.map((name) => chip(name, name, category, text))}
      </nav>
    </section>
    <section aria-labelledby="found">
      <h2 id="found">${headingOf({ text, category, tools, isCut })}</h2>
      ${tools.length === 0 && html`<p class="empty">Nothing fits. Try fewer words, or <a href="/">see all tools</a>.</p>`}
      <ul class="cards">${tools.map(card)}</ul>
    </section>
    ${isFirst && beginning(baseUrl)}`;
}

function chip(category: string | null, name: string, chosen: string | null, text: string): Html {
  const query = new URLSearchParams({ ...(text !== "" && { q: text }), ...(category !== null && { category }) });
  const href = query.size === 0 ? "/" : `/?${query}`;
  return html`<a href="${href}"${category === chosen && html` aria-current="true"`}>${name}</a>`;
}

function headingOf({ text, category, tools, isCut }: Omit<Search, "baseUrl">): string {
  const many = isCut ? `The first ${tools.length}` : plural(tools.length, "tool");
  const what = text === "" ? "" : ` for “${text}”`;
  return `${many}${what}${category === null ? "" : ` in ${category}`}`;
}

const card = (tool: ToolView) => html`<li class="card">
  <h3><a href="/tools/${tool.id}"><bdi>${tool.name}</bdi></a></h3>
  <p class="clamped"><bdi>${tool.description}</bdi></p>
  <p class="tags">${tool.category !== null && html`<span class="badge">${tool.category}</span>`}${badges(tool)}</p>
  <dl>
    <div><dt>Price</dt><dd>${cheapestOf(tool.mcpTools)}</dd></div>
    <div><dt>Success</dt><dd>${percent(tool.successRate)}</dd></div>
    <div><dt>Calls</dt><dd>${tool.totalQueries.toLocaleString("en")}</dd></div>
  </dl>
</li>`;

const beginning = (baseUrl: string) => html`
  <section class="columns" aria-label="How to begin">
    <div>
      <h2>Buy</h2>
      <p>Sign in with a wallet, make a key, allow what you want to spend. Then any HTTP client, the TypeScript SDK or the Python SDK buys.</p>
      <pre><code>npx hardhat api-key create --name laptop</code></pre>
    </div>
    <div>
      <h2>Give it to an agent</h2>
      <p>Any MCP client with this address and a key can search here and buy what it finds.</p>
      <pre><code>${baseUrl}/api/mcp</code></pre>
    </div>
    <div>
      <h2>Sell</h2>
      <p>Your MCP server, a stake and a signature. Ninety per cent of every call is yours.</p>
      <pre><code>npx hardhat register-tool</code></pre>
    </div>
  </section>`;
