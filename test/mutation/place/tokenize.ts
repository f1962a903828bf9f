import { KEYWORDS } from "./keywords.ts";

// A name is an identifier, or a word inside a string, a template of SQL or a pattern: whatever may be called otherwise
// tomorrow. Everything else stays as it is: keywords, numbers, signs.
export type Token = { kind: "name" | "keyword" | "number" | "sign"; text: string; start: number; end: number };

// White space, comments of TypeScript and Solidity, then what is kept. A comment of one line begins where a line or a gap
// does, so that an address inside a string is none. The tokenizer has no state: a fragment that begins inside a template
// is read like the file that it was cut from.
const TOKEN =
  /(?<space>\s+|(?<=^|\s)\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<word>[A-Za-z_$][\w$]*)|(?<number>\d[\w.]*)|(?<sign>\\[\s\S]|[\s\S])/gmu;

const CLOSING = /^[)\]}]$/;

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const { index, groups, 0: part } of text.matchAll(TOKEN)) {
    if (groups?.space !== undefined) continue;
    const kind = groups?.number !== undefined ? "number" : groups?.word === undefined ? "sign" : kindOf(part);
    // A formatter adds a comma before a closing bracket when it breaks the line, and takes it away again.
    if (CLOSING.test(part) && tokens.at(-1)?.text === ",") tokens.pop();
    tokens.push({ kind, text: part, start: index, end: index + part.length });
  }
  return tokens;
}

const kindOf = (word: string) => (KEYWORDS.has(word) ? "keyword" : "name");
