import { expect, it } from "vitest";
import { serverOf } from "./serverOf.ts";

it("an address leads to one server however it is written, and another path to another", () => {
  const server = "https://tools.example/a/mcp";
  for (const spelling of [
    server,
    "https://TOOLS.example/a/mcp",
    "https://tools.example:443/a/mcp",
    "https://tools.example./a/mcp/",
    "https://tools.example/a//mcp?key=1",
    "https://tools.example/b/../a/./mcp//",
    "https://tools.example/%61/mcp",
    // Express, and not only it, takes any case for the same.
    "https://tools.example/A/Mcp",
  ]) {
    expect(serverOf(spelling)).toBe(server);
  }
  expect(serverOf("https://tools.example/")).toBe("https://tools.example");
  for (const other of [
    "https://tools.example/b/mcp",
    "https://tools.example:8443/a/mcp",
    "https://other.example/a/mcp",
  ]) {
    expect(serverOf(other)).not.toBe(server);
  }
});
