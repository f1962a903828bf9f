// The small pieces that several views are made of.

import { nameOfTool } from "../api/toolNames.ts";
import { type Child, h, s } from "./dom.ts";
import { ago, short, shortUuid, size, time, usd } from "./format.ts";

export type Column<T> = {
  name: string;
  cell: (row: T) => Child;
  // Numbers are set to the right, digit under digit.
  numeric?: boolean;
  // The first to go when there is little room.
  wide?: boolean;
};

export type TableOptions<T> = {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  empty: string;
  // Whether the caption is to be seen, as a heading; it is there for a screen reader in any case.
  isTitled?: boolean;
};

export function table<T>({ caption, columns, rows, keyOf, empty, isTitled = true }: TableOptions<T>): HTMLElement {
  const title = isTitled ? h("h2", {}, caption) : null;
  if (rows.length === 0) return h("section", { class: "panel" }, title, h("p", { class: "empty" }, empty));
  const classOf = ({ numeric, wide }: Column<T>) => `${numeric ? "number" : ""} ${wide ? "wide" : ""}`.trim() || null;
  const head = columns.map((column) => h("th", { scope: "col", class: classOf(column) }, column.name));
  const cells = (row: T) => columns.map((column) => h("td", { class: classOf(column) }, column.cell(row)));
  return h(
    "section",
    { class: "panel" },
    h(
      "table",
      {},
      h("caption", { class: isTitled ? null : "unseen" }, title ?? caption),
      h("thead", {}, h("tr", {}, head)),
      h(
        "tbody",
        {},
        rows.map((row) => h("tr", { "data-key": keyOf(row) }, cells(row))),
      ),
    ),
  );
}

export function facts(entries: readonly (readonly [name: string, value: Child])[]): HTMLElement {
  return h(
    "dl",
    { class: "facts" },
    entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

export function stat(name: string, value: Child, note: Child = null): HTMLElement {
  return h(
    "div",
    { class: "stat" },
    h("dt", {}, name),
    h("dd", {}, h("strong", {}, value), note && h("span", {}, note)),
  );
}

const TONES: Readonly<Record<string, string>> = {
  final: "good",
  open: "good",
  included: "active",
  submitted: "active",
  batched: "active",
  planned: "active",
  absorbed: "warn",
  owed: "warn",
  reverted: "warn",
  expired: "warn",
  refused: "bad",
  failed: "bad",
};

export const badge = (state: string, tone = TONES[state] ?? "calm") => h("span", { class: `badge ${tone}` }, state);

export const money = (amountUsd: string) => h("span", { class: size(amountUsd) === 0 ? "zero" : null }, usd(amountUsd));

export const when = (iso: string) => h("time", { datetime: iso, title: iso }, time(iso));
export const since = (iso: string) => h("time", { datetime: iso, title: iso }, ago(iso));

export const code = (text: string) => h("code", { title: text }, short(text));
export const whole = (text: string) => h("code", { class: "whole" }, text);

// Links inside the console, by what they lead to.
export const toBatch = (batchId: string) =>
  h("a", { href: `#/batches/${batchId}`, title: batchId }, h("code", {}, short(batchId)));
export const toCharge = (id: string) => h("a", { href: `#/charges/${id}`, title: id }, h("code", {}, short(id)));
export const toPayer = (payer: string) =>
  h("a", { href: `#/payers/${payer}`, title: payer }, h("code", {}, short(payer)));
export function tool(uuid: string, name: string | null = nameOfTool(uuid) ?? null) {
  const text = name === null ? h("code", {}, shortUuid(uuid)) : name;
  return h("a", { href: `#/tools/${uuid}`, title: uuid }, text);
}

const EXPLORERS: Readonly<Record<number, string>> = {
  8453: "https://basescan.org",
  84532: "https://sepolia.basescan.org",
};
let explorer: string | undefined;

// Where transactions and addresses can be looked up by somebody else's means.
export function setChain(chainId: number): void {
  explorer = EXPLORERS[chainId];
}

export function onChain(kind: "tx" | "address", value: string, text: (value: string) => Child = code): Child {
  if (explorer === undefined) return text(value);
  return h("a", { href: `${explorer}/${kind}/${value}`, rel: "noreferrer", target: "_blank" }, text(value));
}

// A part of a whole, drawn; the numbers stand beside it.
export function meter(parts: readonly { part: number; class: string }[], total: number): SVGElement {
  let start = 0;
  return s(
    "svg",
    { class: "meter", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { class: "rest", width: 100, height: 6 }),
    parts.map(({ part, class: name }) => {
      const width = total === 0 ? 0 : (100 * part) / total;
      const x = start;
      start += width;
      return s("rect", { class: name, x, width, height: 6 });
    }),
  );
}

// From one page of a list to the next. There may be more while a page is full.
export function pages(name: string, offset: number, shown: number, pageSize: number): HTMLElement {
  return h(
    "p",
    { class: "pages" },
    offset > 0 && h("a", { href: `#/${name}?offset=${Math.max(0, offset - pageSize)}` }, "Back"),
    shown === pageSize && h("a", { href: `#/${name}?offset=${offset + pageSize}` }, "Next"),
  );
}

export const offsetOf = (options: URLSearchParams) =>
  Math.max(0, Number.parseInt(options.get("offset") ?? "", 10) || 0);

export const page = (title: string, ...children: readonly Child[]) => pageWith(title, null, ...children);

// With something beside the title.
export function pageWith(title: string, beside: Child, ...children: readonly Child[]): HTMLElement {
  return h("div", { class: "page" }, h("div", { class: "head" }, h("h1", { tabindex: -1 }, title), beside), children);
}
