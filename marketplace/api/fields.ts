import { z } from "zod";
import { example } from "../../settlement/daemon/http/fields.ts";

// The fields that only requests to the marketplace have.

export const signed = {
  message: z
    .string("must be a text")
    .max(4_000, "is too long")
    .meta({ examples: ["the message of the challenge, word for word"] }),
  signature: z
    .string("must be a signature")
    .regex(/^0x([0-9a-fA-F]{2}){1,8192}$/, "must be a signature, 0x and hexadecimal digits")
    .meta({ examples: [example.signature] })
    .transform((text) => text as `0x${string}`),
};
export const toolId = z
  .guid("must be a tool's UUID")
  .meta({ examples: [example.toolId] })
  .transform((text) => text.toLowerCase());
