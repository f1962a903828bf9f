import type { measureDrain } from "../../drain/measureDrain.ts";
import { chapter } from "../chapter.ts";
import { exact, fine, named, table, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureDrain>>;

export const drain = chapter<Measured>({
  name: "drain",
  command: "drain --large",
  measure: async () => (await import("../../drain/measureDrain.ts")).measureDrain({ large: true }),
  text: (drain) => `## Draining a backlog

How long settlement takes from accrued calls to \`included\`, on a real anvil with the real USDC and an SQLite ledger: reading what is due, netting, hashing receipts, signing, sending and finding the receipts. The settlement service is a process of its own. Before it settles, it accrues the calls itself, 64 at a time, each on disk before the next. Medians of three runs up to 100,000 calls, one run above.

${named([
  ["callsPerSecond", whole(drain.callsPerSecond), "calls settled per second, of 100,000"],
  ["accruePerSecond", whole(drain.accruePerSecond), "calls accrued per second by the same process before"],
  ["ratioToAccrual", exact(drain.ratioToAccrual), "the one divided by the other"],
  ["cpuRatioToAccrual", exact(drain.cpuRatioToAccrual), "the same in processor time, which nobody else can disturb"],
  ["flatness", exact(drain.flatness ?? 0), "time per call at 1,000,000 calls against that at 10,000"],
  ["blockedMs", exact(drain.blockedMs), "the longest for which the process could do nothing else, in milliseconds"],
  ["rssMb", whole(drain.rssMb), "its greatest memory, in MB"],
])}

![Calls settled per second against the size of the backlog](charts/drain-by-backlog.svg)

${table(
  ["payers", "calls", "batches", "seconds", "settled per second", "accrued per second", "gas per call", "memory, MB"],
  drain.sizes.map(({ payers, calls, batches, seconds, callsPerSecond, accruePerSecond, gasPerCall, rssMb }) => [
    whole(payers),
    whole(calls),
    whole(batches),
    exact(seconds),
    whole(callsPerSecond),
    whole(accruePerSecond),
    fine(gasPerCall),
    whole(rssMb),
  ]),
)}`,
  charts: ({ sizes }) => ({
    "drain-by-backlog": {
      title: "Calls settled per second, by the size of the backlog",
      description: "From accrued calls to transactions in a block, on a local chain.",
      x: { label: "accrued calls in the backlog", scale: "step", values: sizes.map(({ calls }) => calls) },
      y: { label: "calls settled per second", scale: "linear" },
      lines: [
        {
          name: "one engine, one operator key",
          values: sizes.map(({ callsPerSecond }) => callsPerSecond),
          main: true,
        },
      ],
    },
  }),
});
