import { join } from "node:path";
import { expect, it } from "vitest";
import { until } from "../waiting/until.ts";
import { isAlive } from "./isAlive.ts";
import { startProgram } from "./startProgram.ts";

const node = (program: string) => startProgram(process.execPath, ["-e", program]);

it("what a program prints is kept, by its stream and as it came", async () => {
  const program = node(`process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 3`);
  expect(await program.ended).toEqual({ code: 3, signal: null, stdout: "out", stderr: "err" });
  expect(["outerr", "errout"]).toContain(program.output());
});

it("a line can be waited for, and a program that ends without it is an error with all it said", async () => {
  const program = node(`console.log("port 17"); setTimeout(() => console.log("port 18"), 10)`);
  expect((await program.printed(/port (\d+)/, 2))[1]).toBe("18");
  await expect(program.printed("port 19")).rejects.toThrow(/ended without printing port 19:\nport 17\nport 18/);
});

it("a program that is not there is an error for whoever waits for it", async () => {
  await expect(startProgram(join(import.meta.dirname, "no-such-program"), []).ended).rejects.toThrow(/ENOENT/);
});

it("a program ends with everything that it has started", async () => {
  const program = startProgram("sh", ["-c", "sleep 1000 & echo inner $!; wait"]);
  const [, inner] = await program.printed(/inner (\d+)/);
  expect((await program.stop()).signal).toBe("SIGTERM");
  await until("the inner program to end", () => !isAlive(Number(inner)));
});

it("a program that does not end when it is asked to is killed", async () => {
  const program = node(`process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("deaf")`);
  await program.printed("deaf");
  expect(await program.stop(50)).toMatchObject({ code: null, signal: "SIGKILL" });
});

it("when the process that started it is killed, nothing is left", async () => {
  const parent = startProgram(process.execPath, [join(import.meta.dirname, "testing", "parent.ts")]);
  const [, ...pids] = await parent.printed(/(\d+) (\d+)/);
  await parent.kill();
  await until("the programs to end", () => pids.map(Number).every((pid) => !isAlive(pid)));
});
