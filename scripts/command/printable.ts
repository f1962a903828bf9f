// What strangers have written, as one line that moves no cursor, hides nothing and turns no text around.
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
