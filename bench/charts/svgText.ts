import type { Children, Create } from "../../settlement/console/app/chart/plot.ts";

export type SvgText = { svg: string };

// An element of SVG as text, on a line of its own.
export const svgText: Create<SvgText> = (tag, attributes, ...children) => {
  const names = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(`${value}`)}"`);
  const inside = contentOf(children);
  const end = inside === "" ? "/>" : `>${inside}</${tag}>`;
  return { svg: `<${tag}${names.join("")}${end}\n` };
};

function contentOf(children: Children<SvgText>): string {
  if (children === false || children === null) return "";
  if (typeof children === "string") return escaped(children);
  return "svg" in children ? children.svg : children.map(contentOf).join("");
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? "");
