import { integer } from "../database/decode.ts";
import { allOf, askingWithin } from "../database/lists.ts";
import type { Reader } from "../database/sql.ts";
import type { Fingerprint } from "./names.ts";

const PLACES = (list: string) => `SELECT fingerprint, place FROM archived_names WHERE fingerprint ${list}`;

// Where something of these names may be in the archive, by fingerprint.
export async function placesOf(sql: Reader, names: readonly Fingerprint[]): Promise<Map<Fingerprint, bigint[]>> {
  const rows = await allOf(sql, askingWithin(sql, "BIGINT", names, PLACES));
  const places = new Map<Fingerprint, bigint[]>();
  for (const row of rows) {
    const name = integer(row, "fingerprint");
    const known = places.get(name);
    if (known === undefined) places.set(name, [integer(row, "place")]);
    else if (!known.includes(integer(row, "place"))) known.push(integer(row, "place"));
  }
  return places;
}
