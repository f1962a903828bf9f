import type { measureCourt } from "../../court/measureCourt.ts";
import { chapter } from "../chapter.ts";
import { named, table, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureCourt>>;

export const court = chapter<Measured>({
  name: "court",
  command: "court",
  measure: async () => (await import("../../court/measureCourt.ts")).measureCourt(),
  text: (court) => `## Court

What it costs to convict a tool of an answer that does not match its schema, whose last value is wrong, so that all of it is read; and how often the contract and Ajv decide ${whole(court.cases)} generated cases in the same way. A test fails above 2,000,000 gas for an answer of 2 KB.

${named([
  ["gasPerConviction", whole(court.gasPerConviction), "of an answer of 2 KB, with a schema of the next row"],
  ["schemaBytes", whole(court.schemaBytes), "that schema's text"],
  ["maxAnswerBytes", whole(court.maxAnswerBytes), "the longest answer that one transaction convicts of"],
  ["agree", whole(court.agree), "cases that both decide in the same way"],
  ["unknown", whole(court.unknown), "cases that the contract does not decide"],
  ["wrongConvictions", whole(court.wrongConvictions), "cases that only the contract refuses"],
  ["wrongAcquittals", whole(court.wrongAcquittals), "cases that only Ajv refuses"],
])}

${table(
  ["bytes of the answer", "gas", "gas per byte"],
  court.gasPerByte.map(({ bytes, gas, gasPerByte }) => [whole(bytes), whole(gas), whole(gasPerByte)]),
)}`,
});
