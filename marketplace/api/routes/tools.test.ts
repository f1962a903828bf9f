import { expect, it } from "vitest";
import type { Found } from "../../discovery/createCatalogue.ts";
import { newListing } from "../../registry/testing/newListing.ts";
import { withinRoom } from "./tools.ts";

// A listing whose methods are about so long as JSON.
function found(name: string, length: number): Found {
  const listing = newListing(name);
  const methods = listing.methods.map((method) => ({ ...method, description: "x".repeat(length) }));
  return { listing, methods };
}
const names = (all: readonly Found[]) => withinRoom(all).map(({ listing: { name } }) => name);

it("a few long listings push nobody out of a search, wherever they stand", () => {
  const long = Array.from({ length: 5 }, (_, i) => found(`long${i}`, 511_000));
  const honest = Array.from({ length: 45 }, (_, i) => found(`honest${i}`, 20_000));
  const shown = names([...long, ...honest]);
  expect(shown.slice(0, 2)).toEqual(["long0", "long1"]);
  expect(shown.slice(2)).toEqual(honest.map(({ listing: { name } }) => name));
  expect(names([...honest, ...long]).slice(0, 45)).toEqual(shown.slice(2));
});

it("what does not fit takes nobody's room, the best is shown in any case, and the order stays", () => {
  expect(names([found("huge", 3_000_000), found("short", 1_000)])).toEqual(["huge"]);
  expect(names([found("a", 1_000), found("huge", 3_000_000), found("b", 5_000), found("c", 2_000)])).toEqual([
    ...["a", "b", "c"],
  ]);
  expect(names([])).toEqual([]);
});
