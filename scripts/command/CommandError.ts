import type { Json } from "./output.ts";

// Something that the person at the keyboard can understand and mend. Its message is a sentence that ends with the way
// out, its details are for machines. Everything else that is thrown is a defect and keeps its stack trace.
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(
    sentence: string,
    readonly details: { [key: string]: Json } = {},
  ) {
    super(sentence);
  }
}
