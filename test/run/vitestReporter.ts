import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import type { Outcome } from "./check.ts";

// Where Vitest leaves what it has found. Its own report does not know of workers that died or errors that nobody caught.
export const OUTCOME_FILE = "OUTCOME_FILE";

// A function, though Vitest calls it with `new`.
export default function createReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandled) {
      const file = process.env[OUTCOME_FILE];
      if (file !== undefined) writeFileSync(file, JSON.stringify(outcomeOf(modules, unhandled)));
    },
  };
}

type Failure = { message: string };

export function outcomeOf(modules: readonly TestModule[], unhandled: readonly Failure[]): Outcome {
  const failures = modules.flatMap((module) => [
    // A file that does not load, and a set-up that fails, which keep tests from running.
    ...module.errors().map((error) => `${module.relativeModuleId}: ${firstLineOf(error)}`),
    ...[...module.children.allSuites()].flatMap((suite) =>
      suite.errors().map((error) => `${module.relativeModuleId}: ${suite.fullName}: ${firstLineOf(error)}`),
    ),
    ...[...module.children.allTests("failed")].map((test) => `${module.relativeModuleId}: ${test.fullName}`),
  ]);
  return {
    passed: modules.reduce((sum, { children }) => sum + [...children.allTests("passed")].length, 0),
    failures: [...failures, ...unhandled.map((error) => `beside the tests: ${firstLineOf(error)}`)],
  };
}

const firstLineOf = ({ message }: Failure) => message.split("\n")[0] ?? message;
