import type { Parties } from "./description.ts";

type Party = Exclude<keyof Parties, "operatorLimit">;

// Two duties of which one checks the other, or bounds what the other earns. Nobody can check themselves.
const CHECKS: readonly { duties: readonly [Party, Party]; because: string }[] = [
  { duties: ["admin", "guardian"], because: "the guardian cancels what the admin schedules" },
  {
    duties: ["admin", "adjudicator"],
    because: "the admin's delay lets stakes leave before a new adjudicator can take them",
  },
  { duties: ["admin", "operator"], because: "the admin sets what the operator may settle" },
  { duties: ["guardian", "adjudicator"], because: "the guardian vetoes what the adjudicator proposes" },
  { duties: ["guardian", "operator"], because: "the guardian suspends the operator" },
  { duties: ["adjudicator", "insurance"], because: "whoever judges must not earn by it" },
  { duties: ["operator", "insurance"], because: "the insurance account bounds what the operator can have absorbed" },
  { duties: ["operator", "treasury"], because: "the operator says how much the treasury earns" },
];

// Which duties one address has together although they must be apart, each as a sentence.
export function findSharedDuties(parties: Record<Party, string>): string[] {
  return CHECKS.filter(({ duties: [one, other] }) => parties[one].toLowerCase() === parties[other].toLowerCase()).map(
    ({ duties: [one, other], because }) => `${parties[one]} is ${one} and ${other}, and ${because}`,
  );
}
