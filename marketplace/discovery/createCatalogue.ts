import { LRUCache } from "lru-cache";
import MiniSearch from "minisearch";
import type { Store } from "../database/openStore.ts";
import type { Listing, Method } from "../registry/listing.ts";
import { findListing, listChanged, type Place } from "../registry/listings.ts";
import { createShelf } from "./createShelf.ts";
import { qualityOf } from "./rank.ts";
import { createVocabulary, termOf, tokensOf } from "./terms.ts";

export type SearchRequest = {
  // Absent: what is featured.
  text?: string;
  limit: number;
  // Whether a method is wanted. Absent: all are.
  wants?: (method: Method) => boolean;
  // Absent: among all tools.
  among?: ReadonlySet<string>;
};

// A listing and those of its methods that were wanted.
export type Found = { listing: Listing; methods: readonly Method[] };

// The listings that are searched, in memory, and of all others what they are called and how they stand. What other processes change
// arrives with the next `follow`, and whoever gets a place that somebody else has left is found from then on.
export type Catalogue = {
  follow(): Promise<void>;
  apply(listing: Listing): void;
  find(toolId: string): Promise<Listing | null>;
  search(request: SearchRequest): Found[];
  // Of those that are not searched without their methods and words.
  all(): Iterable<Listing>;
  // Whether a search can find it.
  isSearched(toolId: string): boolean;
  // How many are offered and are not searched, for want of a place.
  waiting(): number;
  // How many different words are looked through.
  words(): number;
};

type Document = { id: string; name: string; description: string; category: string; methods: string };

// Each may be megabytes.
const PAGE = 50;
// How many listings of usual length are searched. More of them, and a search takes longer than anybody waits.
const PLACES = 10_000;
// Of listings that are not searched and that somebody looks at, or buys from by their id.
const MAX_LOOKED_AT = 50;
const MAX_TEXT_LENGTH = 400;
const MAX_TERMS = 12;
// Of the words of a search so many may be misspelt: each is compared with many others.
const MAX_FORGIVEN = 6;
// And of those so many by two letters, which takes a dozen times as long: whoever has no key at all may search twenty times a second.
const MAX_FAR = 2;
const MIN_PREFIX_LENGTH = 3;
// Different words of one listing that it is found by. A word takes some 800 bytes of memory, and whoever misspells one is compared with
// many: half a megabyte of made-up words would cost as much as a thousand listings.
const MAX_WORDS = 1_000;
// Once all listings have so many different words among them, another one brings no more than so many that nobody else uses: its name and
// those of its methods before all else. Of words that others use it is found by as many as ever.
const MANY_WORDS = 50_000;
const MAX_OWN_WORDS = 20;
// A word that so many tools use is meant as it is written, and finds enough. Fewer could be somebody's who writes a misspelt word
// into listings so that it no longer finds anybody else's, and who has a stake for each of them.
const COMMON = 50;
// What is nearly the word counts less in a tool's name than the word itself counts anywhere.
const WEIGHTS = { prefix: 0.15, fuzzy: 0.1 };

// How many letters of a word may be wrong. Two letters that are exchanged are two; of short words too many are that near.
const editsIn = (term: string) => (term.length >= 6 ? 2 : term.length >= 4 ? 1 : 0);

export function createCatalogue(store: Store, { places = PLACES } = {}): Catalogue {
  const shelf = createShelf(places);
  // Whole, if they have a place.
  const listings = new Map<string, Listing>();
  const lookedAt = new LRUCache<string, Listing>({ max: MAX_LOOKED_AT });
  // Of those that have a place; nothing else is found, and no word of anything else counts.
  const boosts = new Map<string, number>();
  // As they were written, and as much of them as is indexed.
  const indexed = new Map<string, { written: Document; read: Document }>();
  // Who has a place and is not read yet.
  const unread = new Set<string>();
  // How many of them use a word.
  const uses = new Map<string, number>();
  const isCommon = (term: string) => (uses.get(term) ?? 0) >= COMMON;
  let terms = new Set<string>();
  const index = new MiniSearch<Document>({
    fields: ["name", "description", "category", "methods"],
    tokenize: tokensOf,
    processTerm: (token) => {
      const term = termOf(token);
      if (term !== null) terms.add(term);
      return term;
    },
    searchOptions: {
      processTerm: termOf,
      boost: { name: 4, category: 2, methods: 2 },
      // Any other word may be the beginning of one, or misspelt, even if some tool uses it.
      prefix: (term) => !isCommon(term) && term.length >= MIN_PREFIX_LENGTH,
      fuzzy: (term, i, asked) => {
        const before = asked.slice(0, i).filter((each) => !isCommon(each));
        if (isCommon(term) || before.length >= MAX_FORGIVEN) return false;
        const far = before.filter((each) => editsIn(each) > 1);
        return far.length < MAX_FAR ? editsIn(term) : Math.min(1, editsIn(term));
      },
      weights: WEIGHTS,
      // Relevance decides; between tools that are about as relevant, what is known of them.
      boostDocument: (id: string) => boosts.get(id) ?? 0,
    },
  });
  let place: Place = { revision: 0, toolId: "" };
  let featured: readonly Listing[] | null = null;

  function apply(listing: Listing): void {
    const { toolId } = listing;
    const known = listings.get(toolId);
    if (known !== undefined && known.revision > listing.revision) return;
    featured = null;
    lookedAt.delete(toolId);
    if (shelf.put(listing)) show(listing);
    else {
      hide(listing);
      lookedAt.set(toolId, listing);
    }
  }

  function show(listing: Listing): void {
    const { toolId } = listing;
    listings.set(toolId, listing);
    boosts.set(toolId, 1 + qualityOf(listing));
    const document = documentOf(listing);
    const old = indexed.get(toolId)?.written;
    if (old !== undefined && isSame(old, document)) return;
    forget(toolId);
    remember(document);
  }

  function hide(listing: Listing): void {
    listings.set(listing.toolId, outlineOf(listing));
    boosts.delete(listing.toolId);
    forget(listing.toolId);
  }

  function remember(written: Document): void {
    const read = uses.size < MANY_WORDS ? written : withFewNewWords(written, (term) => uses.has(term));
    for (const term of termsWhile(() => index.add(read))) uses.set(term, (uses.get(term) ?? 0) + 1);
    indexed.set(written.id, { written, read });
  }

  function forget(toolId: string): void {
    const document = indexed.get(toolId);
    if (document === undefined) return;
    for (const term of termsWhile(() => index.remove(document.read))) {
      const left = (uses.get(term) ?? 0) - 1;
      if (left > 0) uses.set(term, left);
      else uses.delete(term);
    }
    indexed.delete(toolId);
  }

  // Who has to give way does so, and who has waited for a place is read again, whole.
  async function rearrange(): Promise<void> {
    const { leaving, entering } = shelf.arrange();
    if (leaving.length > 0) featured = null;
    for (const toolId of leaving) {
      const listing = listings.get(toolId);
      if (listing !== undefined) hide(listing);
    }
    for (const toolId of entering) unread.add(toolId);
    for (const toolId of unread) {
      const listing = shelf.has(toolId) && !indexed.has(toolId) ? await findListing(store.read, toolId) : null;
      if (listing !== null) apply(listing);
      unread.delete(toolId);
    }
  }

  // Each word once that the index reads of a document.
  function termsWhile(change: () => void): ReadonlySet<string> {
    terms = new Set();
    change();
    return terms;
  }

  // Best first. Sorted when it is asked for, not at every change.
  function rankAll(): readonly Listing[] {
    featured ??= [...boosts]
      .flatMap(([toolId, boost]) => {
        const listing = listings.get(toolId);
        return listing === undefined ? [] : [{ listing, boost }];
      })
      .sort((a, b) => Number(b.listing.isVerified) - Number(a.listing.isVerified) || b.boost - a.boost)
      .map(({ listing }) => listing);
    return featured;
  }

  function* candidates(text: string | undefined): Generator<Listing> {
    const words = text === undefined ? "" : tokensOf(text.slice(0, MAX_TEXT_LENGTH)).slice(0, MAX_TERMS).join(" ");
    if (words === "") {
      if (text === undefined || text.trim() === "") yield* rankAll();
      return;
    }
    for (const { id } of index.search(words)) {
      const listing = listings.get(id as string);
      if (listing !== undefined) yield listing;
    }
  }

  return {
    async follow() {
      for (let changed: Listing[] = [], full = true; full; full = changed.length === PAGE) {
        changed = await listChanged(store.read, place, PAGE);
        for (const listing of changed) apply(listing);
        place = changed.at(-1) ?? place;
      }
      await rearrange();
    },
    apply,
    async find(toolId) {
      const known = indexed.has(toolId) ? listings.get(toolId) : lookedAt.get(toolId);
      if (known !== undefined) return known;
      const found = await findListing(store.read, toolId);
      if (found !== null) apply(found);
      return found;
    },
    search({ text, limit, wants, among }) {
      const found: Found[] = [];
      for (const listing of candidates(text)) {
        if (found.length === limit) break;
        if (among !== undefined && !among.has(listing.toolId)) continue;
        const methods = wants === undefined ? listing.methods : listing.methods.filter(wants);
        if (methods.length > 0) found.push({ listing, methods });
      }
      return found;
    },
    all: () => listings.values(),
    isSearched: shelf.has,
    waiting: shelf.waiting,
    words: () => uses.size,
  };
}

// What is kept of a listing that is not searched.
const outlineOf = (listing: Listing): Listing => ({
  ...listing,
  ...{ description: "", suggestedPrompts: [], executePrices: {}, methods: [], warnings: [] },
});

// Names first, as everywhere.
function withFewNewWords(document: Document, isKnown: (term: string) => boolean): Document {
  const vocabulary = createVocabulary(MAX_OWN_WORDS, isKnown);
  const { id, name, category, description, methods } = document;
  const of = (text: string) => vocabulary.within(text);
  return { id, name: of(name), category: of(category), methods: of(methods), description: of(description) };
}

// Names first: where words run out, the last descriptions are what is not found.
function documentOf({ toolId, name, description, category, methods }: Listing): Document {
  const vocabulary = createVocabulary(MAX_WORDS);
  const names = methods.map((method) => method.name);
  const texts = methods.map((method) => `${method.description} ${promisedBy(method)}`);
  return {
    id: toolId,
    name: vocabulary.within(name),
    category: vocabulary.within(category ?? ""),
    description: vocabulary.within(description),
    methods: [...names, ...texts].map(vocabulary.within).join("\n"),
  };
}

// What a method answers is named in its schema, and often nowhere else.
function promisedBy({ outputSchema }: Method): string {
  const properties = outputSchema?.properties;
  return typeof properties === "object" && properties !== null ? Object.keys(properties).join(" ") : "";
}

const isSame = (a: Document, b: Document) =>
  a.name === b.name && a.description === b.description && a.category === b.category && a.methods === b.methods;
