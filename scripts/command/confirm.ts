import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline";
import { CommandError } from "./CommandError.ts";
import type { Session } from "./session.ts";

// Whoever says no to one thing is not asked about the next.
export class NotConfirmed extends CommandError {
  constructor() {
    super("not confirmed");
  }
}

// Returns only with a yes, given at the keyboard or beforehand with --yes.
export async function confirm({ output, yes }: Session, question: string): Promise<void> {
  if (yes) return;
  if (output.json) throw new CommandError("--json asks no questions: add --yes");
  if (!(await ask(question))) throw new NotConfirmed();
}

// Asks a yes-or-no question. Everything but a clear yes is a no: an empty line, the end of the input and Ctrl-C.
function ask(question: string): Promise<boolean> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: stdin, output: stdout });
    const answer = (yes: boolean) => {
      process.removeListener("SIGINT", interrupted);
      lines.removeAllListeners("close");
      lines.close();
      resolve(yes);
    };
    const interrupted = () => {
      stdout.write("\n");
      answer(false);
    };
    // A terminal hands Ctrl-C to the interface, anything else sends it to the process.
    lines.on("SIGINT", interrupted);
    process.once("SIGINT", interrupted);
    lines.on("close", () => answer(false));
    lines.question(`${question} [y/N] `, (text) => answer(/^y(es)?$/i.test(text.trim())));
  });
}
