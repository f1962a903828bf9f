import type { measureDaemons } from "../../daemons/measureDaemons.ts";
import { chapter } from "../chapter.ts";
import { exact, table, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureDaemons>>;

export const daemons = chapter<Measured>({
  name: "daemons",
  command: "daemons",
  measure: async () => (await import("../../daemons/measureDaemons.ts")).measureDaemons(),
  text: (daemons) => `## Several daemons

What daemons on one PostgreSQL do together, with the same 512 callers and the same payers: turns, calls held and captured in the same sessions, and charges planned into batches, a key each. The ledger's part alone, without HTTP or chain; server and daemons share the cores.

${table(
  ["daemons", "turns per second", "calls per second", "charges planned per second"],
  daemons.daemons.map(({ count, turnsPerSecond, callsPerSecond, settledPerSecond }) => [
    whole(count),
    whole(turnsPerSecond),
    whole(callsPerSecond),
    whole(settledPerSecond),
  ]),
)}

Two do ${exact(daemons.turnsRatioOfTwo)} times the turns of one, ${exact(daemons.callsRatioOfTwo)} times the calls and ${exact(daemons.settledRatioOfTwo)} times the planning; four ${exact(daemons.turnsRatioOfFour)}, ${exact(daemons.callsRatioOfFour)} and ${exact(daemons.settledRatioOfFour)}.`,
});
