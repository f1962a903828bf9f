import type { measureSustain } from "../../sustain/measureSustain.ts";
import { chapter } from "../chapter.ts";
import { exact, named, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureSustain>>;

export const sustain = chapter<Measured>({
  name: "sustain",
  command: "sustain",
  measure: async () => (await import("../../sustain/measureSustain.ts")).measureSustain(),
  text: (sustain) => `## Both at once

Accruals over HTTP as fast as ${sustain.connections} connections get their answers, and settlement beside it in the same daemon, for ${sustain.seconds} seconds. The chain's blocks are 2 seconds apart in its own time, which runs ${sustain.chainSecondsPerSecond} times as fast as the clock, and final ${sustain.finalityBlocks} blocks later. What would wait too long is answered with 429, and the client comes back at once. Daemon, chain and client share the cores.

${named([
  ["acceptedPerSecond", whole(sustain.acceptedPerSecond), "turns recorded per second"],
  ["settledPerSecond", whole(sustain.settledPerSecond), "charges in mined batches per second"],
  ["refusedPerSecond", whole(sustain.refusedPerSecond), "requests per second that were asked to come back later"],
  ["backlogSeconds", exact(sustain.backlogSeconds), "the most that was ever due, in seconds of settlement"],
  ["finalBatches", whole(sustain.finalBatches), "batches that became final meanwhile"],
  ["p50Ms", exact(sustain.p50Ms), "median of the time to an answer, in milliseconds"],
  ["p99Ms", exact(sustain.p99Ms), "its 99th percentile"],
  ["rssMb", whole(sustain.rssMb), "the daemon's memory at the end, in MB"],
])}`,
});
