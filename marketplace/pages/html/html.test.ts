import { expect, it } from "vitest";
import { html } from "./html.ts";

it("whatever is put in is text, as an element and in an attribute", () => {
  const poison = `"><script>alert('x')</script>&amp;`;
  expect(html`<a title="${poison}">${poison}</a>`.markup).toBe(
    '<a title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;">' +
      "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;</a>",
  );
});

it("what was made here is markup, in lists too, and nothing is nothing", () => {
  const items = ["a", "<b>"].map((item) => html`<li>${item}</li>`);
  expect(html`<ul>${items}${null}${false}${undefined}${0}</ul>`.markup).toBe("<ul><li>a</li><li>&lt;b&gt;</li>0</ul>");
});
