import { placeholders } from "./sql.ts";

// Who is charged, as the index of what is due knows it: by the beginnings of addresses. It has an entry for each charge that waits, all
// over it, and every group of accruals writes the pages that it touches: with 8 digits of 40 they are a third as many. Whoever shares them
// is told apart by the whole address.
const beginningOf = (address: string) => `substr(${address}, 3, 8)`;

// `account` is an expression, `of` the table with its dot.
export const isChargedTo = (account: string, of = "") =>
  `${beginningOf(`${of}charged_to`)} = ${beginningOf(account)} AND ${of}charged_to = ${account}`;

// To one of so many accounts, from that parameter on.
export const isChargedToAny = (count: number, from: number) =>
  `${mayBeChargedToAny(count, from)} AND charged_to IN (${placeholders(count, from)})`;

// To one of them, or to somebody whose address begins like theirs. That the index alone can tell.
export function mayBeChargedToAny(count: number, from: number): string {
  const beginnings = Array.from({ length: count }, (_, i) => beginningOf(`$${from + i}`));
  return `${beginningOf("charged_to")} IN (${beginnings.join(", ")})`;
}
