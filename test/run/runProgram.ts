import { join } from "node:path";
import { startProgram } from "../../scripts/process/startProgram.ts";

export type Finished = {
  // Null if it did not end by itself.
  code: number | null;
  // What it printed, without colours.
  output: string;
};

// A program that says nothing for so long hangs. The longest silence is that of the compiler, a minute on a small machine.
const MAX_SILENCE_MS = 15 * 60_000;
const GRACE_MS = 10_000;

// Runs a program of node_modules/.bin to its end and shows what it prints meanwhile.
export async function runProgram(
  file: string,
  args: readonly string[],
  show: (text: string) => void,
  maxSilenceMs = MAX_SILENCE_MS,
): Promise<Finished> {
  let output = "";
  let hangs = false;
  let silence: NodeJS.Timeout | undefined;
  const hear = (text: string) => {
    output += text;
    show(text);
    clearTimeout(silence);
    silence = setTimeout(endHanging, maxSilenceMs);
  };
  const program = startProgram(join("node_modules", ".bin", file), args, {
    env: { ...process.env, ...colours() },
    output: { to: hear },
  });
  const endHanging = () => {
    hangs = true;
    hear(`\n${file} has said nothing for ${maxSilenceMs / 60_000} minutes and is ended.\n`);
    void program.stop(GRACE_MS);
  };
  hear("");
  try {
    const { code } = await program.ended;
    return { code: hangs ? null : code, output: withoutColours(output) };
  } catch (error) {
    hear(`${file} did not start: ${error instanceof Error ? error.message : error}\n`);
    return { code: null, output: withoutColours(output) };
  } finally {
    clearTimeout(silence);
  }
}

// Programs see no terminal. They print as if there was one where there is.
function colours(): NodeJS.ProcessEnv {
  if (process.env.NO_COLOR !== undefined || process.env.FORCE_COLOR !== undefined) return {};
  return process.stdout.isTTY ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what begins a colour.
const withoutColours = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, "");
