import type { Token } from "./tokenize.ts";

// What the agreement of one token is worth. A word that has another name costs more than a sign of agreement next to it is
// worth, so that agreement ends where other code begins. A word that has the same other name again is evidence like any.
const KEPT_WORD = 2;
const SIGN = 1;
const NEW_NAME = -3;

// Any name may be any other one. Which renaming that would take is asked only where everything else fits.
export function isAlike(old: Token | undefined, now: Token | undefined): boolean {
  return old?.kind === now?.kind && (old?.kind === "name" || old?.text === now?.text);
}

// Which word of the lines is which word of the source. What was compared since `keep` can be forgotten.
export function createRenaming() {
  const forward = new Map<string, string>();
  const backward = new Map<string, string>();
  const recent: string[] = [];
  return {
    // What the agreement of two tokens is worth, null if they do not agree.
    compare(old: Token | undefined, now: Token | undefined): number | null {
      if (old === undefined || now === undefined || !isAlike(old, now)) return null;
      if (old.kind !== "name") return old.kind === "keyword" ? KEPT_WORD : SIGN;
      const known = forward.get(old.text);
      if (known !== undefined) return known === now.text ? KEPT_WORD : null;
      if (backward.has(now.text)) return null;
      forward.set(old.text, now.text);
      backward.set(now.text, old.text);
      recent.push(old.text);
      return old.text === now.text ? KEPT_WORD : NEW_NAME;
    },
    keep(): void {
      recent.length = 0;
    },
    forget(): void {
      for (const word of recent.splice(0)) {
        backward.delete(forward.get(word) ?? "");
        forward.delete(word);
      }
    },
    kept: () => [...forward].filter(([old, now]) => old === now).length,
    changed: () => new Map([...forward].filter(([old, now]) => old !== now)),
  };
}
