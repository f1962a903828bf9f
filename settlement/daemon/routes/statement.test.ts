import { expect, it } from "vitest";
import { answerStatement, csvOf, statementQuery } from "./statement.ts";

const lines = [{ id: "a" }, { id: "b" }];
const places = [
  { atMs: 1, id: "0xa" },
  { atMs: 2, id: "0xb" },
];

it("a full page leads on from its last line, and the last page leads nowhere", () => {
  const full = answerStatement({}, "lines", lines, places, statementQuery.parse({ limit: "2" }));
  expect(full).toEqual({ body: { lines, next: "2.0xb" } });
  expect(statementQuery.parse({ after: "2.0xb" }).after).toEqual({ atMs: 2, id: "0xb" });
  const last = answerStatement({}, "lines", lines, places, statementQuery.parse({ limit: "3" }));
  expect(last).toEqual({ body: { lines, next: null } });
  const csv = answerStatement({}, "lines", lines, places, statementQuery.parse({ limit: "2", format: "csv" }));
  expect(csv).toMatchObject({ text: "id\r\na\r\nb\r\n", headers: { "x-next": "2.0xb" } });
});

it("a cell is quoted where it must be, and is never a formula", () => {
  expect(csvOf([{ a: 'x,"y"\n', b: "=1+1", c: null, d: 3 }])).toBe('a,b,c,d\r\n"x,""y""\n",\'=1+1,,3\r\n');
  expect(csvOf([])).toBe("");
});
