import { expect, it } from "vitest";
import { runProgram } from "./runProgram.ts";

const run = (source: string, maxSilenceMs?: number) => {
  let shown = "";
  const show = (text: string) => {
    shown += text;
  };
  return runProgram("node", ["-e", source], show, maxSilenceMs).then((program) => ({ ...program, shown }));
};

it("a program's output is shown and kept, both streams, and kept without colours", async () => {
  const { code, output, shown } = await run(
    `console.log("\\x1b[31mred\\x1b[39m"); console.error("x"); process.exitCode = 3`,
  );
  expect(code).toBe(3);
  expect(output.split("\n")).toEqual(expect.arrayContaining(["red", "x"]));
  expect(shown).toContain("\u001b[31mred");
});

it("a program that is not there is a failure that says so", async () => {
  const { code, output } = await runProgram("no-such-program", [], () => {});
  expect(code).toBeNull();
  expect(output).toContain("no-such-program did not start");
});

it("a program that hangs is ended, with a sentence", async () => {
  const { code, shown } = await run(`setInterval(() => {}, 1_000); process.on("SIGTERM", () => process.exit(0))`, 300);
  expect(code).toBeNull();
  expect(shown).toContain("node has said nothing for");
});

it("what a program leaves behind does not outlive it", async () => {
  const source = `
    const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    child.unref();
    process.exit(0)`;
  // That this returns is what is tested: the child holds both streams, and their end is waited for.
  expect((await run(source)).code).toBe(0);
});
