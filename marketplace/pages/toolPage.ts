import { formatUsd } from "../../settlement/domain/money.ts";
import { sentenceOf } from "../../settlement/domain/text/sentence.ts";
import { toolView } from "../discovery/toolView.ts";
import { isOffered, type Listing, type Method } from "../registry/listing.ts";
import { sampleArguments } from "../registry/sampleArguments.ts";
import type { Earnings } from "../settlement/createSettlementClient.ts";
import { inputsOf } from "./describeSchema.ts";
import { type Html, html } from "./html/html.ts";
import { snippetsOf } from "./snippets.ts";
import { badges, dollars, percent, plural, priceOf, stat } from "./stats.ts";

export type Shown = {
  listing: Listing;
  // The method whose purchase is shown; the first that is sold otherwise.
  chosen: string | null;
  // Null while the daemon does not answer.
  earnings: Earnings | null;
  baseUrl: string;
};

const MAX_METHODS = 100;
const MAX_SCHEMA = 4_000;
// Of an example, in characters. A longer one hides what it is an example of.
const MAX_EXAMPLE = 1_000;

export function toolPage({ listing, chosen, earnings, baseUrl }: Shown): Html {
  const { methods, owner, stake, requiredStake, registeredAtMs } = listing;
  const tool = toolView(listing);
  const sold = methods.filter(({ executeEligible }) => executeEligible);
  const bought = sold.find(({ name }) => name === chosen) ?? sold[0];
  return html`
    <article class="tool">
      <p class="trail"><a href="/">Tools</a>${
        tool.category !== null &&
        html` / <a href="/?${`${new URLSearchParams({ category: tool.category })}`}">${tool.category}</a>`
      }</p>
      <h1><bdi>${tool.name}</bdi> ${badges(tool)}</h1>
      <p class="lead"><bdi>${tool.description}</bdi></p>
      ${!isOffered(listing) && html`<p class="notice">Not offered at present: ${reasonOf(listing)}</p>`}
      <dl class="stats">
        ${stat("Success", percent(tool.successRate), `of ${plural(tool.totalQueries, "call")} that cost something`)}
        ${stat("Uptime", percent(tool.uptimePercent), `of ${plural(listing.pings, "ping")}`)}
        ${stat("Stake", dollars(formatUsd(stake)), `${dollars(formatUsd(requiredStake))} required`)}
        ${stat("Earned", earnings === null ? "–" : dollars(earnings.developerShareUsd), "paid to its developer")}
        ${stat("Listed", html`<time datetime="${dayOf(registeredAtMs)}">${dayOf(registeredAtMs)}</time>`)}
        ${stat("Owner", html`<code title="${owner}">${owner.slice(0, 6)}…${owner.slice(-4)}</code>`)}
      </dl>
      ${bought !== undefined && purchase(listing.toolId, bought, baseUrl)}
      <section aria-labelledby="methods">
        <h2 id="methods">${plural(methods.length, "method")}</h2>
        ${methods.slice(0, MAX_METHODS).map((method) => methodPart(listing.toolId, method, method === bought))}
        ${methods.length > MAX_METHODS && html`<p class="empty">The others are in the API's answer.</p>`}
      </section>
      ${
        tool.suggestedPrompts.length > 0 &&
        html`<section aria-labelledby="prompts">
        <h2 id="prompts">What people ask it</h2>
        <ul class="prompts">${tool.suggestedPrompts.map(
          ({ text }) => html`<li><a href="/ask?${`${new URLSearchParams({ q: text })}`}"><bdi>${text}</bdi></a></li>`,
        )}</ul>
      </section>`
      }
      <p class="id">Tool <code>${listing.toolId}</code></p>
    </article>`;
}

function purchase(toolId: string, method: Method, baseUrl: string): Html {
  const example = sampleArguments(method.inputSchema);
  const isShort = JSON.stringify(example).length <= MAX_EXAMPLE;
  const snippets = snippetsOf({ baseUrl, toolId, method: method.name, args: isShort ? example : {} });
  return html`<section class="panel" id="call" aria-labelledby="how">
    <h2 id="how">Call <code><bdi>${method.name}</bdi></code> for ${priceOf(method)}</h2>
    <p class="empty">It takes an API key: <a href="/account">make one</a> with your wallet, which is charged up to the cap that you set.</p>
    ${!isShort && html`<p>An example of its arguments is too long to be shown: what it takes stands below.</p>`}
    ${snippets.map(
      ({ language, code }, i) => html`<details name="language"${i === 0 && html` open`}>
        <summary>${language}</summary>
        <pre tabindex="0" aria-label="${language}"><code>${code}</code></pre>
      </details>`,
    )}
  </section>`;
}

function methodPart(toolId: string, method: Method, isShown: boolean): Html {
  const { name, description, inputSchema, outputSchema, _meta: meta } = method;
  const inputs = inputsOf(inputSchema);
  return html`<section class="panel method">
    <h3><code><bdi>${name}</bdi></code></h3>
    <p class="tags">
      <span class="badge${method.executeEligible && " good"}">${priceOf(method)}</span>
      <span class="badge">${meta.latencyClass}</span>
      ${meta.contextRequirements?.map((kind) => html`<span class="badge">needs ${kind}</span>`)}
      ${
        method.executeEligible &&
        !isShown &&
        html`<a href="/tools/${toolId}?${`${new URLSearchParams({ method: name })}`}#call">How to call it</a>`
      }
    </p>
    <p><bdi>${description}</bdi></p>
    ${
      inputs.length > 0 &&
      html`<table>
      <caption class="unseen">What it takes</caption>
      <thead><tr><th scope="col">Argument</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
      <tbody>${inputs.map(
        (input) => html`<tr>
          <td><code><bdi>${input.name}</bdi></code>${input.isRequired && html` <span class="badge">required</span>`}</td>
          <td><bdi>${input.type}</bdi></td>
          <td><bdi>${input.description}</bdi></td>
        </tr>`,
      )}</tbody>
    </table>`
    }
    ${
      outputSchema !== undefined &&
      html`<details><summary>What it promises to answer</summary>
        <pre tabindex="0" aria-label="The schema of its answers"><code>${schemaText(outputSchema)}</code></pre></details>`
    }
  </section>`;
}

function schemaText(schema: object): string {
  const text = JSON.stringify(schema, undefined, 2);
  return text.length > MAX_SCHEMA ? `${text.slice(0, MAX_SCHEMA)}\n…` : text;
}

// What is wrong with its server is for its owner to read, who is told so elsewhere.
function reasonOf({ status }: Listing): string {
  return sentenceOf(
    status.kind === "delisted" ? "its server has not answered" : "its stake is below what its price requires",
  );
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
