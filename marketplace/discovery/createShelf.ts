import { isOffered, type Listing } from "../registry/listing.ts";

// Who has a place among what is searched. There are so many places, and what is long takes several. As long as there are enough,
// everybody who is offered has them. When there are not, those have them who offer the most for each: what their developers have at
// stake, and what buyers have paid for them, of each wallet as much as counts. So whoever lists without end pays for every place that
// he takes from others, and whoever offers the least gives way first. Among equals it is the newest.
export type Shelf = {
  // What is known of a listing now. A newcomer has a place at once if there is room. Returns whether it has one.
  put(listing: Listing): boolean;
  has(toolId: string): boolean;
  // Who has to go, and who comes in their place. None as long as there is room for all.
  arrange(): { leaving: readonly string[]; entering: readonly string[] };
  // How many are offered and have no place.
  waiting(): number;
};

type Offer = { toolId: string; places: number; perPlace: bigint; sinceMs: number };

// In characters of JSON, some four bytes of memory each.
const PLACE_LENGTH = 16 * 1024;

export function createShelf(places: number): Shelf {
  const offers = new Map<string, Offer>();
  let shown = new Set<string>();
  let taken = 0;
  // Whether anything has changed that may change who has a place.
  let isDue = false;

  function leave(toolId: string): void {
    if (shown.delete(toolId)) taken -= offers.get(toolId)?.places ?? 0;
    if (offers.delete(toolId)) isDue = true;
  }

  return {
    put(listing) {
      const { toolId } = listing;
      if (!isOffered(listing)) {
        leave(toolId);
        return false;
      }
      const old = offers.get(toolId);
      const offer = offerOf(listing);
      offers.set(toolId, offer);
      if (old === undefined || old.places !== offer.places || old.perPlace !== offer.perPlace) isDue = true;
      if (shown.has(toolId)) taken += offer.places - (old?.places ?? 0);
      else if (taken + offer.places <= places) {
        shown.add(toolId);
        taken += offer.places;
      }
      return shown.has(toolId);
    },

    has: (toolId) => shown.has(toolId),

    arrange() {
      if (!isDue || (taken <= places && shown.size === offers.size)) return { leaving: [], entering: [] };
      isDue = false;
      const before = shown;
      shown = new Set();
      taken = 0;
      for (const offer of [...offers.values()].sort(byOffer)) {
        if (taken + offer.places > places) continue;
        shown.add(offer.toolId);
        taken += offer.places;
      }
      return {
        leaving: [...before].filter((toolId) => !shown.has(toolId)),
        entering: [...shown].filter((toolId) => !before.has(toolId)),
      };
    },

    waiting: () => offers.size - shown.size,
  };
}

function offerOf({ toolId, stake, earned, registeredAtMs, ...listing }: Listing): Offer {
  const { description, suggestedPrompts, methods, warnings } = listing;
  const length = JSON.stringify([description, suggestedPrompts, methods, warnings]).length;
  const places = Math.max(1, Math.ceil(length / PLACE_LENGTH));
  return { toolId, places, perPlace: (stake + earned) / BigInt(places), sinceMs: registeredAtMs };
}

function byOffer(one: Offer, other: Offer): number {
  if (one.perPlace !== other.perPlace) return one.perPlace > other.perPlace ? -1 : 1;
  return one.sinceMs - other.sinceMs || (one.toolId < other.toolId ? -1 : 1);
}
