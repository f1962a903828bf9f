import { type Html, html, type Part } from "./html/html.ts";

export type Frame = {
  title: string;
  // Where the page is, among those of the bar.
  place?: string;
  assets: string;
  body: Part;
  // The name of a script among the assets, for a page that has one.
  script?: string;
};

// What the bar leads to. Another page is a line here and a route in `registerPages`.
const PLACES = [
  ["/", "Tools"],
  ["/ask", "Ask"],
  ["/account", "Account"],
  ["/docs", "API"],
] as const;

export function layout({ title, place, assets, body, script }: Frame): Html {
  const links = PLACES.map(
    ([path, name]) => html`<a href="${path}"${path === place && html` aria-current="page"`}>${name}</a>`,
  );
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="${assets}/icon.svg">
    <link rel="stylesheet" href="${assets}/style.css">${
      script !== undefined && html`\n    <script src="${assets}/${script}" defer></script>`
    }
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header class="bar">
      <a class="brand" href="/"><span class="mark" aria-hidden="true"></span>Context marketplace</a>
      <nav class="places" aria-label="Pages">${links}</nav>
    </header>
    <main id="main" tabindex="-1">${body}</main>
    <footer>Calls are paid in USDC on Base and settled in batches. A call that fails costs nothing.
      <a href="/help">When a call is refused</a></footer>
  </body>
</html>
`;
}
