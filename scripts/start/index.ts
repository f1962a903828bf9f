// `npm start`: the whole stack on this machine, from the chain to the traffic. Everything that is started is ended again,
// in the reverse order, however this process ends.
import { setTimeout as pause } from "node:timers/promises";
import { UsageError } from "../../settlement/cli/readArguments.ts";
import { sentenceOf } from "../../settlement/domain/text/sentence.ts";
import { HELP, readOptions } from "./options.ts";
import { prepare } from "./prepare.ts";
import { say, step } from "./report.ts";
import { Interrupted, StartError } from "./StartError.ts";
import type { Endings } from "./stack/runStack.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
// npm passes on what the terminal has sent already, so that one Ctrl-C comes twice.
const SAME_SIGNAL_MS = 500;
const KILL_MS = 2_000;
const MISTYPED = 2;
const INTERRUPTED = 130;

async function main(args: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  const endings: Endings = { inOrder: [], atOnce: [] };
  listen(interrupt, endings);
  try {
    const options = readOptions(args);
    if (options.help) {
      say(HELP);
      return 0;
    }
    const place = await prepare(options, ({ release }) => endings.inOrder.push(release));
    const { folder } = options;
    say(place.continued ? `Going on from ${folder}:` : `Setting up a chain of your own in ${folder}:`);
    // It brings half of the repository along; whoever asks for help or mistypes need not wait for that.
    const { runStack } = await step("program", () => import("./stack/runStack.ts"));
    await runStack(options, place, interrupt.signal, endings);
    return 0;
  } catch (error) {
    if (error instanceof Interrupted || (interrupt.signal.aborted && isAbort(error))) return 0;
    if (!(error instanceof StartError || error instanceof UsageError)) throw error;
    console.error(sentenceOf(error.message));
    if (error instanceof StartError) return 1;
    console.error("npm start -- --help shows what there is.");
    return MISTYPED;
  } finally {
    const asked = interrupt.signal.aborted;
    if (asked) say("\nStopping …");
    // Whatever the reason is, the traffic and those who watch it must end.
    interrupt.abort();
    for (const end of endings.inOrder.reverse()) await end();
    if (asked) say("Stopped.");
  }
}

const isAbort = (error: unknown) => error instanceof Error && error.name === "AbortError";

// The first signal asks, a later one insists. The chain is only asked even then: it writes its state down in a moment, and
// without that the ledger would be ahead of it.
function listen(interrupt: AbortController, endings: Endings): void {
  let firstAtMs: number | undefined;
  const onSignal = () => {
    if (firstAtMs === undefined) {
      firstAtMs = performance.now();
      interrupt.abort();
    } else if (performance.now() - firstAtMs > SAME_SIGNAL_MS) {
      const killed = Promise.all(endings.atOnce.map((end) => end()));
      void Promise.race([killed, pause(KILL_MS)]).finally(() => process.exit(INTERRUPTED));
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

process.exitCode = await main(process.argv.slice(2));
