import type { ToolRow } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { count, size } from "../page/format.ts";
import { badge, meter, money, onChain, page, table, tool } from "../page/parts.ts";
import { view } from "../view.ts";

const PAGE = 100;

export const tools = view<{ tools: ToolRow[] }>({
  title: "Tools",
  everyMs: 5_000,
  load: () => ask(`/v1/tools?limit=${PAGE}`),
  draw: ({ tools: rows }) =>
    page(
      "Tools",
      table({
        caption: "Tools, what they earned, and the stake behind them",
        isTitled: false,
        rows,
        keyOf: ({ toolId }) => toolId,
        empty: "No tool is known yet. One shows up here when it is named, or with the first final batch that pays it.",
        columns: [
          { name: "Tool", cell: ({ toolId, name }) => tool(toolId, name) },
          { name: "State", cell: ({ listing }) => standing(listing) },
          {
            name: "Price",
            numeric: true,
            wide: true,
            cell: ({ listing }) => (listing ? money(listing.priceUsd) : "–"),
          },
          { name: "Stake", numeric: true, cell: ({ listing }) => (listing ? money(listing.stakeUsd) : "–") },
          {
            name: "Required",
            numeric: true,
            wide: true,
            cell: ({ listing }) => (listing ? money(listing.requiredStakeUsd) : "–"),
          },
          { name: "Cover", wide: true, cell: ({ listing }) => (listing ? cover(listing) : "–") },
          {
            name: "Leaving",
            numeric: true,
            wide: true,
            cell: ({ listing }) => (listing ? money(listing.withdrawingUsd) : "–"),
          },
          { name: "Payee", wide: true, cell: ({ listing }) => (listing ? onChain("address", listing.payee) : "–") },
          { name: "Batches", numeric: true, wide: true, cell: ({ batches }) => count(batches) },
          { name: "Charged", numeric: true, wide: true, cell: ({ settledUsd }) => money(settledUsd) },
          { name: "Earned", numeric: true, cell: ({ developerShareUsd }) => money(developerShareUsd) },
        ],
      }),
    ),
});

type Listing = NonNullable<ToolRow["listing"]>;

export function standing(listing: ToolRow["listing"]) {
  if (listing === null) return badge("not listed", "bad");
  return listing.isPaid ? badge("paid", "good") : badge("low stake", "bad");
}

const cover = ({ stakeUsd, requiredStakeUsd, isPaid }: Listing) =>
  meter(
    [{ part: size(stakeUsd), class: isPaid ? "settled" : "refused" }],
    Math.max(size(stakeUsd), size(requiredStakeUsd)),
  );
