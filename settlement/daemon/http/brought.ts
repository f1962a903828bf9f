import type { Hex } from "viem";
import type { z } from "zod";
import { ApiError } from "./errors.ts";
import type { budget } from "./fields.ts";

export type SignedFields = { budget?: z.output<typeof budget> | null | undefined; signature?: Hex | null | undefined };

export type Brought = z.output<typeof budget> & { signature: Hex };

// What a request brings of a signed budget: both parts of it, or nothing.
export function broughtIn({ budget, signature }: SignedFields): Brought | null {
  if (budget == null && signature == null) return null;
  if (budget != null && signature != null) return { ...budget, signature };
  const missing = budget == null ? "budget" : "signature";
  throw new ApiError("invalid_request", `the request cannot be taken: ${missing} is missing beside the other`);
}
