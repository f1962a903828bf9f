import type { Json } from "./schemas.ts";
import type { Random } from "./values.ts";

// Writes a value as somebody else might: other spaces, other orders, numbers and strings in other spellings. What
// `JSON.parse` makes of it is the same value.
export function spell(value: Json, random: Random): string {
  const space = () => (random() < 0.1 ? [" ", "\n", "\t", "\r\n  "][Math.floor(random() * 4)] : "");
  if (Array.isArray(value))
    return `[${space()}${value.map((item) => spell(item, random) + space()).join(`,${space()}`)}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) =>
        `${space()}${spellString(name, random)}${space()}:${space()}${spell(member, random)}${space()}`,
    );
    if (random() < 0.3) members.reverse();
    // The name stands there twice, and the last one counts.
    const [first] = Object.keys(value);
    if (first !== undefined && random() < 0.05) members.unshift(`${spellString(first, random)}:[null,{}]`);
    return `{${members.join(",")}}`;
  }
  if (typeof value === "number") return spellNumber(value, random);
  return typeof value === "string" ? spellString(value, random) : JSON.stringify(value);
}

function spellNumber(value: number, random: Random): string {
  const plain = JSON.stringify(value);
  if (random() < 0.7 || plain.includes("e")) return plain;
  const withFraction = plain.includes(".") ? `${plain}00` : `${plain}.0`;
  const spellings = [withFraction, `${plain}e0`, `${plain}E+00`, `${withFraction}e-0`];
  if (Number.isInteger(value) && value !== 0) spellings.push(`${plain}00e-2`, `${plain}000.0e-3`);
  return spellings[Math.floor(random() * spellings.length)] as string;
}

function spellString(value: string, random: Random): string {
  if (random() < 0.8) return JSON.stringify(value);
  const escaped = Array.from({ length: value.length }, (_, i) => {
    const unit = value.charCodeAt(i);
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    if (!isSurrogate && random() < 0.5) return JSON.stringify(value.charAt(i)).slice(1, -1);
    const digits = unit.toString(16).padStart(4, "0");
    return `\\u${random() < 0.5 ? digits : digits.toUpperCase()}`;
  });
  return `"${escaped.join("")}"`;
}
