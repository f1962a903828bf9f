import { createInterpreters } from "../../marketplace/query/interpreter/createInterpreters.ts";
import { createPyodideBackend } from "../../marketplace/query/interpreter/launch.ts";
import { callOf, outputOf } from "../../marketplace/query/interpreter/testing/calls.ts";

const COLD = 3;
const WARM = 30;
const OUTPUTS = [outputOf("list_1", { values: Array.from({ length: 1_000 }, (_, i) => i) })];
const CALL = callOf("set_result(sum(list_1['values']) / len(list_1['values']))");
const SILENT = { info: () => undefined, warn: () => undefined } as never;

// How long a turn's first call of Python takes, process and all, and how long every other one does.
export async function measureInterpreter() {
  const interpreters = createInterpreters({ backend: createPyodideBackend({ packages: null }), log: SILENT });
  const cold: number[] = [];
  const warm: number[] = [];
  for (let i = 0; i < COLD; i += 1) {
    const interpreter = interpreters.open(new AbortController().signal, "the bench");
    const run = async () => {
      const startMs = performance.now();
      const outcome = await interpreter.run(CALL, OUTPUTS);
      if (outcome.kind === "rejected") throw new Error(`Python was not run: ${outcome.message}`);
      return performance.now() - startMs;
    };
    try {
      cold.push(await run());
      for (let j = 0; j < WARM; j += 1) warm.push(await run());
    } finally {
      await interpreter.dispose();
    }
  }
  return { interpreterColdMs: medianOf(cold), interpreterWarmMs: medianOf(warm) };
}

const medianOf = (values: readonly number[]) =>
  Math.round(10 * (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0)) / 10;
