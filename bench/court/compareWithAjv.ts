import { createAjv } from "./askAjv.ts";
import type { Case } from "./cases/generateCases.ts";
import type { Verdict } from "./createJudgeMany.ts";
import type { Judge } from "./openJudge.ts";

export type Difference = Case & { court: Verdict; ajv: "valid" | "invalid" };

// Decides cases on chain and by Ajv. A conviction is wrong if Ajv accepts, an acquittal if Ajv refuses.
export async function compareWithAjv({ judgeMany }: Judge, cases: readonly Case[]) {
  const verdicts = await judgeMany(cases);
  const askAjv = createAjv();
  const differences: Difference[] = [];
  const counts = { cases: cases.length, agree: 0, unknown: 0, wrongConvictions: 0, wrongAcquittals: 0 };
  const accepted = { valid: 0, invalid: 0 };
  for (const [i, it] of cases.entries()) {
    const court = verdicts[i] as Verdict;
    const ajv = askAjv(it);
    accepted[ajv] += 1;
    if (court === ajv) counts.agree += 1;
    else if (court === "unknown") counts.unknown += 1;
    else {
      counts[court === "invalid" ? "wrongConvictions" : "wrongAcquittals"] += 1;
      differences.push({ ...it, court, ajv });
    }
  }
  return { counts, accepted, differences };
}
