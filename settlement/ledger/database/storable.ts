const ZERO_CHARACTER = "\0";

// Whether both databases give a text back as it was. PostgreSQL keeps no zero character, and half of a surrogate pair would
// be kept as U+FFFD: another text.
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes(ZERO_CHARACTER);
}

// For what must be kept whatever is in it, such as the reason of a halt.
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll(ZERO_CHARACTER, "\uFFFD");
}
