import type { Tool, ToolRow } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { type Listing, listingOf, pageAtMarketplace } from "../api/marketplace.ts";
import { h } from "../page/dom.ts";
import { count } from "../page/format.ts";
import { facts, money, onChain, page, table, whole } from "../page/parts.ts";
import { view } from "../view.ts";
import { standing } from "./tools.ts";

const MOST = 1_000;

// Without a row the registry was not asked about it.
type Data = { tool: Tool; row: ToolRow | undefined; listing: Listing | null };

export const tool = view<Data>({
  title: "Tool",
  everyMs: 5_000,
  async load({ id }) {
    const toolId = id ?? "";
    const [tool, { tools }, listing] = await Promise.all([
      ask<Tool>(`/v1/tools/${encodeURIComponent(toolId)}`),
      ask<{ tools: ToolRow[] }>(`/v1/tools?limit=${MOST}`),
      listingOf(toolId),
    ]);
    return { tool, row: tools.find((one) => one.toolId === tool.toolId), listing };
  },
  draw({ tool, row, listing }) {
    const { toolId, name, batches, settledUsd, developerShareUsd } = tool;
    const url = pageAtMarketplace(toolId);
    const chain = row?.listing ?? null;
    return page(
      name ?? "Tool",
      h("p", { class: "subject" }, whole(toolId)),
      listing && h("p", { class: "prose" }, listing.description),
      h(
        "section",
        { class: "panel" },
        facts([
          ["State", standing(chain)],
          ["Earned by its developer", money(developerShareUsd)],
          ["Charged", money(settledUsd)],
          ["Final batches", count(batches)],
          ["Calls", listing === null ? "–" : count(listing.totalQueries)],
          ["Success", percent(listing?.successRate)],
          ["Uptime", percent(listing?.uptimePercent)],
          ["Price of a Query turn", chain === null ? "–" : money(chain.priceUsd)],
          ["Stake", chain === null ? "–" : money(chain.stakeUsd)],
          ["Stake required", chain === null ? "–" : money(chain.requiredStakeUsd)],
          ["Stake on its way out", chain === null ? "–" : money(chain.withdrawingUsd)],
          ["Payee", chain === null ? "–" : onChain("address", chain.payee)],
          url !== null && listing !== null
            ? ["At the marketplace", h("a", { href: url, rel: "noreferrer", target: "_blank" }, "How to call it")]
            : ["At the marketplace", url === null ? "no marketplace is named" : "nothing is known of it"],
        ]),
      ),
      listing &&
        table({
          caption: "Methods",
          rows: listing.mcpTools,
          keyOf: (method) => method.name,
          empty: "It offers no method.",
          columns: [
            { name: "Method", cell: (method) => h("code", { class: "name" }, method.name) },
            { name: "Does", wide: true, cell: ({ description }) => description },
            { name: "Latency", wide: true, cell: ({ _meta }) => _meta.latencyClass },
            {
              name: "Price a call",
              numeric: true,
              cell: ({ executePriceUsd }) => (executePriceUsd === null ? "not sold" : money(executePriceUsd)),
            },
          ],
        }),
    );
  },
});

const percent = (text: string | undefined) => (text === undefined ? "–" : `${text} %`);
