import { placeholders } from "./sql.ts";

// Indices of charges have the beginnings of addresses and of batches: each has an entry for every charge, and every group of accruals and
// every batch writes the pages that it touches. With 8 digits of 40 or 64 they are a third as many, and fewer. Whoever shares them is told
// apart by the whole. `of` is the table with its dot.
const beginningOf = (name: string) => `substr(${name}, 3, 8)`;

const is = (column: string, value: string) => `${beginningOf(column)} = ${beginningOf(value)} AND ${column} = ${value}`;

// Who is charged, as the index of what is due knows it. `account` is an expression.
export const isChargedTo = (account: string, of = "") => is(`${of}charged_to`, account);

// Who owes it, of what is or was in a batch; and in which batch it is.
export const isOfPayer = (payer: string, of = "") => is(`${of}payer`, payer);
export const isOfBatch = (batchId: string, of = "") => is(`${of}batch_id`, batchId);

// To one of so many accounts, from that parameter on.
export const isChargedToAny = (count: number, from: number) =>
  `${mayBeChargedToAny(count, from)} AND charged_to IN (${placeholders(count, from)})`;

// To one of them, or to somebody whose address begins like theirs. That the index alone can tell.
export function mayBeChargedToAny(count: number, from: number): string {
  const beginnings = Array.from({ length: count }, (_, i) => beginningOf(`$${from + i}`));
  return `${beginningOf("charged_to")} IN (${beginnings.join(", ")})`;
}
