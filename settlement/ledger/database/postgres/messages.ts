import type { Column, List, Param } from "../sql.ts";

// What is said to the server, as texts with a character for each byte: a burst is put together like any text and handed over whole. Our
// own and not `pg`'s, because that writes lists as text only, of which the server looks at every character; as bytes it copies them.

// Those of lengths, of which there is one for every value, are put together once.
const SMALL = Array.from({ length: 256 }, (_, number) => writtenInt32(number));
const [FOUR_BYTES, EIGHT_BYTES] = [int32(4), int32(8)];
const NULL = int32(-1);
const ANSWERED_AS_TEXT = int16(1) + int16(0);

export const DESCRIBE = message("D", "P\0");
// As many rows as there are.
export const EXECUTE = message("E", `\0${int32(0)}`);
export const SYNC = message("S", "");

export const close = (statement: string) => message("C", `S${statement}\0`);
export const parse = (statement: string, text: string) => message("P", `${statement}\0${bytesOf(text)}\0${int16(0)}`);

export function bind(statement: string, params: readonly Param[]): string {
  let [formats, values] = ["", ""];
  for (const param of params) {
    const isList = isListed(param);
    formats += int16(isList ? 1 : 0);
    values += param === null ? NULL : sized(isList ? arrayOf(param) : bytesOf(String(param)));
  }
  const count = int16(params.length);
  return message("B", `\0${statement}\0${count}${formats}${count}${values}${ANSWERED_AS_TEXT}`);
}

const isListed = (param: Param): param is List => typeof param === "object" && param !== null;

function message(kind: string, content: string): string {
  return `${kind}${int32(content.length + 4)}${content}`;
}

// The numbers by which the server knows the types.
const TYPES: Readonly<Record<Column, number>> = { TEXT: 25, BIGINT: 20, INTEGER: 23 };

function arrayOf({ column, items, first, width }: List): string {
  const rows = Math.ceil((items.length - first) / width);
  const write = column === "TEXT" ? writerOf({ items, first, width }) : column === "BIGINT" ? int8 : int4;
  let [values, hasNull] = ["", 0];
  for (let i = first; i < items.length; i += width) {
    const item = items[i] ?? null;
    if (item === null) hasNull = 1;
    values += item === null ? NULL : write(item);
  }
  return `${int32(1)}${int32(hasNull)}${int32(TYPES[column])}${int32(rows)}${int32(1)}${values}`;
}

// Nearly all are ids, hashes and names, which have a byte for each character. So all are looked at in one go.
function writerOf({ items, first, width }: Omit<List, "column">): (item: Param) => string {
  let all = "";
  for (let i = first; i < items.length; i += width) all += items[i] ?? "";
  return BEYOND_ASCII.test(all) ? (item) => sized(bytesOf(String(item))) : (item) => sized(String(item));
}

const BEYOND_ASCII = /[^\0-\x7f]/;

function bytesOf(text: string): string {
  return BEYOND_ASCII.test(text) ? Buffer.from(text).toString("latin1") : text;
}

const sized = (bytes: string) => int32(bytes.length) + bytes;

// What is too large for its column is refused, as the server would refuse it in digits: cut off, it would be another amount.
function int4(item: Param): string {
  const number = Number(item);
  if (number !== (number | 0)) throw new RangeError(`${item} is no whole number of 32 bits`);
  return FOUR_BYTES + int32(number);
}

function int8(item: Param): string {
  const number = Number(item);
  if (Number.isSafeInteger(number)) return EIGHT_BYTES + int32(Math.floor(number / 2 ** 32)) + int32(number);
  const wide = BigInt(item as bigint);
  if (wide !== BigInt.asIntN(64, wide)) throw new RangeError(`${item} is no whole number of 64 bits`);
  return EIGHT_BYTES + int32(Number(BigInt.asIntN(32, wide >> 32n))) + int32(Number(BigInt.asIntN(32, wide)));
}

function int32(number: number): string {
  return SMALL[number] ?? writtenInt32(number);
}

function writtenInt32(number: number): string {
  return String.fromCharCode((number >>> 24) & 255, (number >>> 16) & 255, (number >>> 8) & 255, number & 255);
}

function int16(number: number): string {
  return String.fromCharCode((number >>> 8) & 255, number & 255);
}
