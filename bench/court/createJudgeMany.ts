import type { JsonSchema, ValidateMany } from "../../typechain-types/index.ts";
import type { Case } from "./cases/generateCases.ts";

const VERDICTS = ["unknown", "valid", "invalid"] as const;

export type Verdict = (typeof VERDICTS)[number];

export type JudgeMany = (cases: readonly Case[]) => Promise<Verdict[]>;

export const bytesOf = (text: string) => `0x${Buffer.from(text, "utf8").toString("hex")}`;

// Asks the contract that judges about many cases, as many in a call as the chain below lets one spend gas for.
export function createJudgeMany(contract: JsonSchema, many: ValidateMany, casesPerCall: number): JudgeMany {
  return async (cases) => {
    const verdicts: Verdict[] = [];
    for (let start = 0; start < cases.length; start += casesPerCall) {
      const some = cases.slice(start, start + casesPerCall);
      const [schemas, jsons] = [some.map(({ schema }) => bytesOf(schema)), some.map(({ json }) => bytesOf(json))];
      const answers = await many.validate(contract, schemas, jsons);
      verdicts.push(...answers.map((answer) => VERDICTS[Number(answer)] as Verdict));
    }
    return verdicts;
  };
}
