import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { GROUPS } from "../run/check.ts";

type Step = { uses?: string; run?: string };
type Job = {
  "runs-on": string;
  "timeout-minutes": number;
  strategy?: { matrix: { script: string[] } };
  steps: Step[];
};
type Workflow = { permissions: unknown; jobs: Record<string, Job> };

const { scripts, engines, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));

// Nobody sees a workflow fail before it is pushed, so what it relies on is checked here.
describe.each(globSync(".github/workflows/*.yml"))("%s", (path) => {
  const text = readFileSync(path, "utf8");
  const workflow: Workflow = parse(text);
  const jobs = Object.values(workflow.jobs);

  it("may read the repository and nothing else", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    expect(text).not.toMatch(/secrets\.|: write/);
  });

  it("runs scripts that package.json has", () => {
    const commands = jobs.flatMap(({ steps, strategy }) =>
      steps.flatMap(({ run = "" }) =>
        (strategy?.matrix.script ?? [""]).map((script) => run.replace(/\$\{\{ matrix\.script \}\}/, script)),
      ),
    );
    const named = commands.flatMap((command) =>
      [...command.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name]) => name),
    );
    expect(named).not.toEqual([]);
    expect(named.filter((name) => name !== "ci" && !(name && name in scripts))).toEqual([]);
  });

  it("runs nothing that a shell cannot read", () => {
    for (const { steps } of jobs) {
      for (const { run = "" } of steps) {
        const { status, stderr } = spawnSync("sh", ["-n"], {
          input: run.replaceAll(/\$\{\{.*?\}\}/g, "x"),
          encoding: "utf8",
        });
        expect({ run, status, stderr }).toEqual({ run, status: 0, stderr: "" });
      }
    }
  });

  it("asks for checks that npm test has", () => {
    for (const script of jobs.flatMap(({ strategy }) => strategy?.matrix.script ?? [])) {
      const [, group] = /^node test\/run\/index\.ts (\w+)$/.exec(scripts[script.split(" ")[0] ?? ""] ?? "") ?? [];
      if (group !== undefined) expect(GROUPS).toContain(group);
    }
  });

  it("pins what it uses of others to a commit, and says which version that is", () => {
    const uses = text.split("\n").filter((line) => line.includes("uses:"));
    expect(uses.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it("ends by itself, on a plain machine", () => {
    for (const job of jobs) {
      expect(job["runs-on"]).toMatch(/^ubuntu-\d\d\.04$/);
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
    }
  });
});

it("the version managers' Node is the one that the project installs for itself", () => {
  const version = readFileSync(".nvmrc", "utf8").trim();
  expect(version).toBe(devDependencies.node);
  expect(engines.node).toBe(`>=${version.split(".")[0]}`);
});

it("every path that has an owner is there", () => {
  const paths = readFileSync(".github/CODEOWNERS", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("/"))
    .map((line) => `.${line.split(/\s/)[0]}`);
  expect(paths).not.toEqual([]);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

it("an update is asked for what is a dependency, and left out only for what is one", () => {
  const { updates } = parse(readFileSync(".github/dependabot.yml", "utf8"));
  const ignored: string[] = updates.flatMap(({ ignore = [] }: { ignore?: { "dependency-name": string }[] }) =>
    ignore.map((rule) => rule["dependency-name"]),
  );
  expect(updates.map((update: Record<string, string>) => update["package-ecosystem"])).toEqual([
    "npm",
    "github-actions",
  ]);
  expect(ignored.filter((name) => !(name in devDependencies))).toEqual([]);
});

it.each(globSync(".github/ISSUE_TEMPLATE/{bug,proposal}.yml"))("%s is a form that GitHub accepts", (path) => {
  const form = parse(readFileSync(path, "utf8"));
  expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String), body: expect.any(Array) });
  for (const { type, attributes } of form.body) {
    expect(["checkboxes", "dropdown", "input", "markdown", "textarea"]).toContain(type);
    expect(attributes[type === "markdown" ? "value" : "label"]).toEqual(expect.any(String));
  }
});
