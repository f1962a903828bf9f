import type { Runner } from "../database/transactions/createRunner.ts";
import { listTokenImplementations } from "./listTokenImplementations.ts";
import { noteTokenImplementation } from "./noteTokenImplementation.ts";

export type Token = ReturnType<typeof createToken>;

// The token's code, which its owner can exchange.
export function createToken({ alone, read }: Runner) {
  return {
    noteTokenImplementation: alone(noteTokenImplementation),
    listTokenImplementations: read(listTokenImplementations),
  };
}
