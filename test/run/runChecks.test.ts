import { describe, expect, it } from "vitest";
import type { Check, Outcome } from "./check.ts";
import { runChecks } from "./runChecks.ts";

type Step = { name: string; end: (outcome?: Outcome) => void; print: (text: string) => void };

const PASSED = { passed: 1, failures: [] };

// Checks that end when they are told to.
function stage() {
  const running = new Map<string, Step>();
  const check = (name: string, cores: number, after?: string): Check => ({
    name,
    groups: ["lint"],
    cores: () => cores,
    ...(after === undefined ? {} : { after }),
    run: (_start, print) =>
      new Promise((resolve) => {
        const end = (outcome: Outcome = PASSED) => {
          running.delete(name);
          resolve(outcome);
        };
        running.set(name, { name, end, print });
      }),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string, outcome?: Outcome) => {
    running.get(name)?.end(outcome);
    await settle();
  };
  return {
    check,
    end,
    print: (name: string, text: string) => running.get(name)?.print(text),
    names: () => [...running.keys()],
  };
}

describe("checks", () => {
  it("run beside each other as far as there are cores", async () => {
    const { check, end, names } = stage();
    const done = runChecks([check("a", 1), check("b", 1), check("c", 1), check("all", 2)], 2, () => {});
    expect(names()).toEqual(["a", "b"]);
    await end("b");
    expect(names()).toEqual(["a", "c"]);
    await end("a");
    expect(names()).toEqual(["c"]);
    await end("c");
    expect(names()).toEqual(["all"]);
    await end("all");
    expect((await done).map(({ name }) => name)).toEqual(["a", "b", "c", "all"]);
  });

  it("wait for the one that they need, and for none that does not run", async () => {
    const { check, end, names } = stage();
    const done = runChecks([check("build", 1), check("tests", 1, "build"), check("types", 1, "absent")], 4, () => {});
    expect(names()).toEqual(["build", "types"]);
    await end("build");
    expect(names()).toEqual(["types", "tests"]);
    await end("types");
    await end("tests");
    await done;
  });

  it("all run, though some fail and one breaks", async () => {
    const { check, end } = stage();
    const broken: Check = { ...check("broken", 1), run: () => Promise.reject(new Error("a defect")) };
    const done = runChecks([check("a", 1), broken, check("b", 1)], 1, () => {});
    await end("a", { passed: 2, failures: ["x"] });
    await end("b");
    expect(await done).toMatchObject([
      { name: "a", passed: 2, failures: ["x"] },
      { name: "broken", passed: 0, failures: ["a defect"] },
      { name: "b", passed: 1, failures: [] },
    ]);
  });

  it("are not mixed: what runs beside others is shown when it ends, what runs alone as it goes", async () => {
    const { check, end, print } = stage();
    let shown = "";
    const done = runChecks([check("a", 1), check("b", 1), check("all", 2)], 2, (text) => {
      shown += text;
    });
    print("a", "a1 ");
    print("b", "b1 ");
    print("a", "a2 ");
    await end("a");
    expect(shown).toBe("\n── a\na1 a2 ");
    await end("b");
    print("all", "now");
    expect(shown).toBe("\n── a\na1 a2 \n── b\nb1 \n── all\nnow");
    await end("all");
    await done;
  });

  it("are not mixed with the one that is shown as it goes: what ends beside it is shown after it", async () => {
    const { check, end, print } = stage();
    let shown = "";
    const live = { ...check("live", 1), isShownLive: true };
    const done = runChecks([check("before", 1), live, check("beside", 1)], 2, (text) => {
      shown += text;
    });
    await end("before");
    print("live", "l1 ");
    print("beside", "b1 ");
    await end("beside");
    print("live", "l2");
    expect(shown).toBe("\n── live\nl1 l2");
    await end("live");
    await done;
    expect(shown).toBe("\n── live\nl1 l2\n── before\n\n── beside\nb1 ");
  });
});
