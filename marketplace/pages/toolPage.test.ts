import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../mcp/createMcpClient.ts";
import { newListing } from "../registry/testing/newListing.ts";
import { toolPage } from "./toolPage.ts";

const pageOf = (inputSchema: JsonSchema): string => {
  const listing = newListing("Gas", { meta: [{ pricing: { executeUsd: "0.001" } }] });
  const methods = listing.methods.map((method) => ({ ...method, inputSchema }));
  const shown = { listing: { ...listing, methods }, chosen: null, earnings: null, baseUrl: "https://market.example" };
  return toolPage(shown).markup;
};
const taking = (schema: unknown): JsonSchema => ({ type: "object", required: ["a"], properties: { a: schema } });

describe("the page of a tool", () => {
  it("shows how to call it with an example, unless that is longer than whatever it is an example of", () => {
    const list = (items: JsonSchema) => taking({ type: "array", minItems: 10, items });
    expect(pageOf(list({ type: "integer" }))).toContain("args: {&quot;a&quot;:[1,1,1,1,1,1,1,1,1,1]}");
    const page = pageOf(list({ type: "string", minLength: 100 }));
    expect(page).toContain("args: {},");
    expect(page).toContain("too long to be shown");
  });

  it("is drawn whatever stands in a schema where a text belongs", () => {
    for (const type of [[{ toString: 1 }, "string"], { toString: 1 }, [[["a"]]], 5]) {
      expect(pageOf(taking({ type, description: { toString: 1 } }))).toContain("<bdi>a</bdi>");
    }
  });
});
