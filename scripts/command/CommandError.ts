import type { Json } from "./output.ts";

// Something that the person at the keyboard can understand and fix. Its message ends with the way out, in lower case and
// without a full stop: the end of the command makes a sentence of it. Its details are for machines. Everything else that is
// thrown is a defect and keeps its stack trace.
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly details: { [key: string]: Json };

  constructor(message: string, details: { [key: string]: Json } = {}) {
    super(message);
    this.details = details;
  }
}
