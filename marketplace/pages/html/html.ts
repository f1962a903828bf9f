// Markup from data. Whatever is put in becomes text, also inside of an attribute, unless it was made here: so that nothing
// that a tool says of itself can turn into a part of the page.
export type Html = { readonly markup: string };
export type Part = Html | string | number | null | undefined | false | readonly Part[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: strings.reduce((markup, string, i) => markup + markupOf(parts[i - 1]) + string) };
}

function markupOf(part: Part): string {
  if (part === null || part === undefined || part === false) return "";
  if (typeof part === "string" || typeof part === "number") return escaped(`${part}`);
  if ("markup" in part) return part.markup;
  return part.map(markupOf).join("");
}
