// Words that every description has say nothing about a tool.
const STOP_WORDS = new Set(
  "a an and are as at be by can do does for from get how i in is it its me much my of on or that the this to want what which with you your".split(
    " ",
  ),
);

const CASE_CHANGES = /(?<=\p{Ll})(?=\p{Lu})/u;
const SEPARATORS = /[^\p{L}\p{N}]+/u;

// Words, and besides them the parts of names such as getGasPrice and get_gas_price.
export function tokensOf(text: string): string[] {
  return text
    .split(SEPARATORS)
    .filter((token) => token !== "")
    .flatMap((token) => {
      const parts = token.split(CASE_CHANGES);
      return parts.length > 1 ? [token, ...parts] : token;
    });
}

// The form under which a word is found: without accents, in lower case, in the singular. Null for what is not looked for.
export function termOf(token: string): string | null {
  const term = token.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return STOP_WORDS.has(term) ? null : singularOf(term);
}

// Longer ones are no words: keys, hashes of whole files, pictures.
const MAX_WORD_LENGTH = 80;

export type Vocabulary = {
  // As much of a text as adds no more terms than there is room for.
  within(text: string): string;
};

// Terms that are known, if any, take no room.
export function createVocabulary(maxTerms: number, isKnown?: (term: string) => boolean): Vocabulary {
  const terms = new Set<string>();
  const hasRoomFor = (word: string) => {
    const added = tokensOf(word)
      .map(termOf)
      .filter((term) => term !== null && !terms.has(term) && !isKnown?.(term)) as string[];
    if (terms.size + added.length > maxTerms) return false;
    for (const term of added) terms.add(term);
    return true;
  };
  return {
    within(text) {
      if (terms.size === maxTerms && isKnown === undefined) return "";
      return text
        .split(SEPARATORS)
        .filter((word) => word.length <= MAX_WORD_LENGTH && hasRoomFor(word))
        .join(" ");
    },
  };
}

// English plurals, near enough: what matters is that both forms become the same.
function singularOf(term: string): string {
  if (term.length <= 3 || !term.endsWith("s") || /(ss|us|is)$/.test(term)) return term;
  if (term.endsWith("ies")) return `${term.slice(0, -3)}y`;
  return /(ches|shes|sses|xes|zes)$/.test(term) ? term.slice(0, -2) : term.slice(0, -1);
}
