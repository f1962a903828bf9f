import { expect, it } from "vitest";
import { readArguments, UsageError, UsageRequest, wholeNumber } from "./readArguments.ts";

const options = { port: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

it.each([
  [["--prot", "1"], "there is no option --prot; did you mean --port?"],
  [["--port", "-1"], "--port needs a value; write --port=… if it begins with a dash"],
  [["--port"], "Option '--port <value>' argument missing"],
  [["now"], "Unexpected argument 'now'"],
])("%j is refused in one line that names what was typed", (args, message) => {
  expect(() => readArguments({ args, options })).toThrow(new UsageError(message));
});

it.each(["", "0", "-1", "1.5", "many", "1e99"])('"%s" counts nothing', (text) => {
  expect(() => wholeNumber("--seeds", text)).toThrow("--seeds must be a whole number above zero");
});

it("gives whoever asks for help the usage, unless the program has more to say", () => {
  const { help: _, ...others } = options;
  for (const args of [["--help"], ["-h"], ["--json", "--help"]]) {
    expect(() => readArguments({ args, options: others })).toThrow(UsageRequest);
    expect(readArguments({ args, options }).values.help).toBe(true);
  }
});
