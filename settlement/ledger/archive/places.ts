import { integer } from "../database/decode.ts";
import { inEvenChunks, type Reader, tuples } from "../database/sql.ts";
import type { Fingerprint } from "./names.ts";

// Where something of these names may be in the archive, by fingerprint.
export async function placesOf(sql: Reader, names: readonly Fingerprint[]): Promise<Map<Fingerprint, bigint[]>> {
  const rows = await inEvenChunks(names, (chunk) =>
    sql.all(`SELECT fingerprint, place FROM archived_names WHERE fingerprint IN ${tuples(1, chunk.length)}`, chunk),
  );
  const places = new Map<Fingerprint, bigint[]>();
  for (const row of rows) {
    const name = integer(row, "fingerprint");
    const known = places.get(name);
    if (known === undefined) places.set(name, [integer(row, "place")]);
    else if (!known.includes(integer(row, "place"))) known.push(integer(row, "place"));
  }
  return places;
}
