import { describe, expect, it } from "vitest";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { Listing } from "../registry/listing.ts";
import { newListing } from "../registry/testing/newListing.ts";
import { createShelf } from "./createShelf.ts";

const PLACE_LENGTH = 16 * 1024;
const dollars = (amount: number) => microUsdc(BigInt(amount) * 1_000_000n);
const staked = (amount: number, more: Partial<Listing> = {}) =>
  newListing(`staked ${amount}`, { stake: dollars(amount), ...more });

function shelved(places: number, ...listings: Listing[]) {
  const shelf = createShelf(places);
  for (const listing of listings) shelf.put(listing);
  return shelf;
}

describe("places in the search", () => {
  it("are everybody's while there are enough of them, whatever is at stake", () => {
    const listings = [staked(10), staked(1_000), staked(11)];
    const shelf = shelved(3, ...listings);
    expect(shelf.arrange()).toEqual({ leaving: [], entering: [] });
    expect(listings.map(({ toolId }) => shelf.has(toolId))).toEqual([true, true, true]);
    expect(shelf.waiting()).toBe(0);
  });

  it("are left by whoever has the least at stake, and of equals by the newest", () => {
    const [old, poor, rich] = [staked(20), staked(10), staked(30)];
    const late = staked(20, { registeredAtMs: 1 });
    const shelf = shelved(2, old, poor, late, rich);
    expect(shelf.has(poor.toolId)).toBe(true);
    const { leaving, entering } = shelf.arrange();
    expect([leaving, entering]).toEqual([[poor.toolId], [rich.toolId]]);
    expect(shelf.has(old.toolId)).toBe(true);
    expect(shelf.waiting()).toBe(2);
    expect(shelf.arrange()).toEqual({ leaving: [], entering: [] });
  });

  it("are kept by what buyers have paid, as by what is at stake", () => {
    const earning = staked(10, { earned: dollars(50) });
    const shelf = shelved(1, staked(40), earning);
    expect(shelf.arrange()).toMatchObject({ entering: [earning.toolId] });
  });

  it("are as many for a listing as it is long, and what it offers is divided among them", () => {
    const long = staked(100, { description: "x".repeat(9 * PLACE_LENGTH) });
    const short = Array.from({ length: 10 }, () => staked(11));
    const shelf = shelved(10, long, ...short);
    expect(shelf.has(long.toolId)).toBe(true);
    expect(shelf.arrange().leaving).toEqual([long.toolId]);
    expect(short.every(({ toolId }) => shelf.has(toolId))).toBe(true);
  });

  it("come back by themselves to those who had to leave, once the others have taken their stakes away", () => {
    const honest = staked(10);
    const flood = [staked(11), staked(12)];
    const shelf = shelved(2, honest, ...flood);
    expect(shelf.arrange()).toMatchObject({ leaving: [honest.toolId] });
    for (const each of flood) shelf.put({ ...each, stake: dollars(0) });
    expect(shelf.arrange()).toEqual({ leaving: [], entering: [honest.toolId] });
  });
});
