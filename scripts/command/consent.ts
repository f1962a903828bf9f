import { ask } from "./ask.ts";
import { CommandError } from "./CommandError.ts";
import type { Session } from "./session.ts";

// Returns only with a yes, given at the keyboard or beforehand with --yes.
export async function consent({ output, yes }: Session, question: string): Promise<void> {
  if (yes) return;
  if (output.json) throw new CommandError("--json asks no questions: add --yes. Nothing was sent.");
  if (!(await ask(question))) throw new CommandError("Nothing was sent.");
}
