// What everybody may be shown. Half of a surrogate pair is refused by strict clients, with all that is around it. Controls, and what turns
// the direction of writing, make a text read otherwise than it is; and tags, a second alphabet that nobody sees, say something to
// models alone.
const UNSEEN = /(?![\t\n\r])\p{Cc}|[\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E0FFF}]/u;
const EVERY_UNSEEN = new RegExp(UNSEEN, "gu");

export const isReadable = (text: string): boolean => text.isWellFormed() && !UNSEEN.test(text);

// The same without what nobody sees.
export const readable = (text: string): string => text.toWellFormed().replaceAll(EVERY_UNSEEN, "");

// All texts and names of a value of JSON. Its depth was bounded when it was read.
export function isReadableThroughout(value: unknown): boolean {
  if (typeof value === "string") return isReadable(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, inner]) => isReadable(name) && isReadableThroughout(inner));
}

// Nothing that is not there to be seen, but for the mark that makes a character a picture.
const INVISIBLE = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Co}|(?!\uFE0F)\p{Default_Ignorable_Code_Point}|\u2800/u;

// A name is one line in which every character is seen, and there is something to read.
export const isName = (text: string): boolean =>
  text.isWellFormed() && !INVISIBLE.test(text) && /[\p{L}\p{N}]/u.test(text);
