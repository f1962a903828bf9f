// Whether a licence expression in SPDX's form is permitted by a list of licences: one side of an OR is enough, an AND
// needs both. A licence WITH an exception is an entry of its own.
export function permits(allowed: ReadonlySet<string>, expression: string): boolean {
  const text = unwrapped(expression.trim());
  const choices = splitAtTop(text, " OR ");
  if (choices.length > 1) return choices.some((choice) => permits(allowed, choice));
  const parts = splitAtTop(text, " AND ");
  if (parts.length > 1) return parts.every((part) => permits(allowed, part));
  return allowed.has(text);
}

// Without the parentheses around the whole.
function unwrapped(text: string): string {
  if (!text.startsWith("(") || closingOf(text) !== text.length - 1) return text;
  return unwrapped(text.slice(1, -1).trim());
}

function closingOf(text: string): number {
  let depth = 0;
  for (const [at, character] of [...text].entries()) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function splitAtTop(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth > 0 || !text.startsWith(separator, at)) continue;
    parts.push(text.slice(start, at));
    start = at + separator.length;
  }
  return [...parts, text.slice(start)];
}
