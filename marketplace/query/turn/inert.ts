// Characters that do something where they are shown: to a terminal, to the order of what stands beside them, to what reads lines.
// Those that join others to one, as in flags and families, do not.
const DOING = String.raw`[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]`;
const IN_TEXT = new RegExp(` ?(?:(?![\\n\\t])${DOING})+ ?`, "gu");
const IN_LINE = new RegExp(`(?:\\s|${DOING})+`, "gu");

// What a stranger or a model wrote, as text of several lines that nobody can do anything with but read it.
export const inertText = (text: string): string => text.replace(IN_TEXT, " ");

// The same in one line, of whole characters, as every database keeps it.
export const inertLine = (text: string): string => text.toWellFormed().replace(IN_LINE, " ");
