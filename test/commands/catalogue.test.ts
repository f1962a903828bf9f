import { globSync, readFileSync } from "node:fs";
import type { NewTaskDefinition } from "hardhat/types/tasks";
import { describe, expect, it } from "vitest";
import { tasks } from "../../scripts/index.ts";

const commands = tasks.filter((task): task is Extract<(typeof tasks)[number], NewTaskDefinition> => "options" in task);
const nameOf = ({ id }: NewTaskDefinition) => id.join(" ");

describe("the commands", () => {
  it.each(commands.map((task) => [nameOf(task), task] as const))("%s explains itself and speaks JSON", (_, task) => {
    expect(task.description).not.toBe("");
    for (const { description } of [...Object.values(task.options), ...task.positionalArguments]) {
      expect(description).not.toBe("");
    }
    expect(task.options).toHaveProperty("json");
  });

  it("whatever can be told who sends can be told not to ask, and the other way round", () => {
    for (const { options } of commands) expect("yes" in options).toBe("from" in options);
  });

  it("every command is run by a test or a page", () => {
    const texts = globSync(["test/commands/**/*.ts", "docs/*.md"])
      .map((path) => readFileSync(path, "utf8"))
      .join("\n");
    for (const task of commands) {
      const quoted = task.id.map((word) => `"${word}"`).join(", ");
      const typed = `npx hardhat ${nameOf(task)}`;
      expect(texts.includes(quoted) || texts.includes(typed), nameOf(task)).toBe(true);
    }
  });
});
