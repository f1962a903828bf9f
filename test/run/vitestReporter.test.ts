import { expect, it } from "vitest";
import type { TestModule } from "vitest/node";
import { outcomeOf } from "./vitestReporter.ts";

type Parts = { errors?: string[]; suites?: Record<string, string[]>; passed?: string[]; failed?: string[] };

// As much of a module as the report looks at.
function moduleOf(relativeModuleId: string, { errors = [], suites = {}, passed = [], failed = [] }: Parts): TestModule {
  const errorsOf = (messages: string[]) => () => messages.map((message) => ({ message }));
  const tests = { passed, failed } as const;
  const children = {
    allSuites: () => Object.entries(suites).map(([fullName, messages]) => ({ fullName, errors: errorsOf(messages) })),
    allTests: (state: "passed" | "failed") => tests[state].map((fullName) => ({ fullName })),
  };
  return { relativeModuleId, errors: errorsOf(errors), children } as unknown as TestModule;
}

it("what failed is named, whether a test, a set-up, a file or what nobody waited for", () => {
  const modules = [
    moduleOf("a.test.ts", { passed: ["a ledger > opens"], failed: ["a ledger > closes"] }),
    moduleOf("b.test.ts", { errors: ["no such module\n    at …"] }),
    moduleOf("c.test.ts", { suites: { "a chain": ["it does not start"] }, passed: ["one", "two"] }),
  ];
  expect(outcomeOf(modules, [{ message: "a worker has died" }])).toEqual({
    passed: 3,
    failures: [
      "a.test.ts: a ledger > closes",
      "b.test.ts: no such module",
      "c.test.ts: a chain: it does not start",
      "beside the tests: a worker has died",
    ],
  });
});
