import type { Check, Outcome } from "./check.ts";
import { runProgram } from "./runProgram.ts";

export type Result = Outcome & { name: string; seconds: number };

type Print = (text: string) => void;

// Runs checks beside each other as far as they fit onto the cores, and all of them even if one fails, so that one run shows
// everything there is to fix.
export function runChecks(checks: readonly Check[], cores: number, print: Print): Promise<Result[]> {
  const waiting = [...checks];
  const running = new Set<Check>();
  const results = new Map<Check, Result>();
  const screen = createScreen(print);

  const coresOf = (check: Check) => Math.min(cores, check.cores(cores));
  const isReady = (check: Check) =>
    [...running].reduce((busy, other) => busy + coresOf(other), coresOf(check)) <= cores &&
    ![...waiting, ...running].some(({ name }) => name === check.after);

  return new Promise((resolve) => {
    const startNext = () => {
      for (let check = waiting.find(isReady); check !== undefined; check = waiting.find(isReady)) start(check);
      if (running.size === 0) resolve(checks.flatMap((check) => results.get(check) ?? []));
    };
    const start = async (check: Check) => {
      waiting.splice(waiting.indexOf(check), 1);
      running.add(check);
      const isLive = check.isShownLive || coresOf(check) === cores;
      results.set(check, await (isLive ? runLive(check, screen) : runBeside(check, screen)));
      running.delete(check);
      startNext();
    };
    startNext();
  });
}

// Where one check at a time is shown as it goes, and the others wait for its end.
type Screen = { goLive(): { print: Print; end(): void }; show: Print };

function createScreen(print: Print): Screen {
  let isLive = false;
  let held = "";
  return {
    goLive() {
      isLive = true;
      const end = () => {
        isLive = false;
        print(held);
        held = "";
      };
      return { print, end };
    },
    show(text) {
      if (isLive) held += text;
      else print(text);
    },
  };
}

// Shows what the check prints while it prints it.
async function runLive(check: Check, screen: Screen): Promise<Result> {
  const { print, end } = screen.goLive();
  print(`\n── ${check.name}\n`);
  const result = await run(check, print);
  end();
  return result;
}

// Shows everything at once when the check has ended.
async function runBeside(check: Check, screen: Screen): Promise<Result> {
  let shown = "";
  const result = await run(check, (text) => {
    shown += text;
  });
  screen.show(`\n── ${check.name}\n${shown}`);
  return result;
}

async function run({ name, run }: Check, print: Print): Promise<Result> {
  const startedAt = performance.now();
  let outcome: Outcome;
  try {
    outcome = await run((file, ...args) => runProgram(file, args, print), print);
  } catch (error) {
    // A defect of the check itself, which must not hide the others.
    print(`${error instanceof Error ? error.stack : error}\n`);
    outcome = { passed: 0, failures: [error instanceof Error ? error.message : String(error)] };
  }
  return { name, ...outcome, seconds: Math.round((performance.now() - startedAt) / 1000) };
}
