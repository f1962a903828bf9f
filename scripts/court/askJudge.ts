import { canonicalJson } from "../../marketplace/toolkit/index.ts";
import { IJsonSchema__factory, type SchemaCourt } from "../../typechain-types/index.ts";
import type { Session } from "../command/session.ts";

// In the order of IJsonSchema.Verdict.
const VERDICTS = ["unknown", "valid", "invalid"] as const;

export type Verdict = (typeof VERDICTS)[number];

// The text of a value as the court is shown it.
export const bytesOf = (value: unknown) => `0x${Buffer.from(canonicalJson(value), "utf8").toString("hex")}`;

// What a court would say of an answer, from the contract that it asks itself.
export async function askJudge(
  { provider }: Session,
  court: SchemaCourt,
  schema: unknown,
  content: unknown,
): Promise<Verdict> {
  const judge = IJsonSchema__factory.connect(await court.judge(), provider);
  const { verdict } = await judge.validate(bytesOf(schema), bytesOf(content));
  return VERDICTS[Number(verdict)] ?? "unknown";
}
