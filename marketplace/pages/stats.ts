import { formatUsd, parseUsd } from "../../settlement/domain/money.ts";
import type { ToolView } from "../discovery/toolView.ts";
import type { Method } from "../registry/listing.ts";
import { type Html, html } from "./html/html.ts";

// How a tool has done, in the words of all pages.

export const dollars = (amountUsd: string) => `$${amountUsd}`;

export const priceOf = ({ executePriceUsd }: Pick<Method, "executePriceUsd">) =>
  executePriceUsd === null
    ? "not sold by the call"
    : parseUsd(executePriceUsd) === 0n
      ? "free"
      : dollars(executePriceUsd);

export function cheapestOf(methods: readonly Pick<Method, "executePriceUsd">[]): string {
  const prices = methods.flatMap(({ executePriceUsd }) =>
    executePriceUsd === null ? [] : [parseUsd(executePriceUsd)],
  );
  const [cheapest] = prices.sort((a, b) => (a < b ? -1 : Number(a > b)));
  if (cheapest === undefined) return "in answers only";
  const amount = cheapest === 0n ? "free" : dollars(formatUsd(cheapest));
  return `${prices.some((price) => price !== cheapest) ? "from " : ""}${amount}${cheapest === 0n ? "" : " a call"}`;
}

export const percent = (text: string | undefined) => (text === undefined ? "–" : `${text} %`);

export const badges = ({ isVerified, isProven }: Pick<ToolView, "isVerified" | "isProven">): (Html | false)[] => [
  isVerified && html`<span class="badge good">verified</span>`,
  isProven && html`<span class="badge good">proven</span>`,
];

export const stat = (name: string, value: string | Html, note: string | null = null) =>
  html`<div><dt>${name}</dt><dd>${value}${note && html`<span>${note}</span>`}</dd></div>`;

export const plural = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
