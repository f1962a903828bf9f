import type { Row } from "../../command/output.ts";

// Something on chain that is not as the repository and the record say.
export type Difference = { subject: string; expected: string; found: string };

export const rowOf = ({ subject, expected, found }: Difference): Row => [
  subject,
  `expected ${expected}, found ${found}`,
];

// One that is told by comparing two values; none if they are the same.
export const compare = (subject: string, expected: string, found: string): Difference[] =>
  expected === found ? [] : [{ subject, expected, found }];
