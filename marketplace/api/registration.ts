import { z } from "zod";
import * as field from "../../settlement/daemon/http/fields.ts";
import { formatUsd } from "../../settlement/domain/money.ts";
import { promptSchema } from "../discovery/toolView.ts";
import { CATEGORIES, type SuggestedPrompt } from "../registry/listing.ts";
import { isName, isReadable } from "../registry/readable.ts";
import { toolId } from "./fields.ts";

export const words = (max: number) =>
  z
    .string("must be a text")
    .trim()
    .min(1, `must have 1 to ${max} characters`)
    .max(max, `must have 1 to ${max} characters`)
    .refine(isReadable, "must be well-formed Unicode, without characters that nobody sees");

export const toolName = words(255)
  .meta({ examples: ["Gas prices"] })
  .transform((name) => name.normalize("NFC").replaceAll(/ +/g, " "))
  .refine(isName, "must be one line of characters that can be seen");

export const category = z.enum(CATEGORIES, `must be one of ${CATEGORIES.join(", ")}, or null`).nullable();

const MAX_PROMPTS = 20;
// Some write plain texts, which the documentation of the original shows.
export const prompts = (source: SuggestedPrompt["source"]) =>
  z
    .array(
      z.union(
        [
          words(500).transform((text): SuggestedPrompt => ({ text, source })),
          z
            .object({ text: words(500), source: promptSchema.shape.source.optional(), priceHint: words(50).optional() })
            .transform(
              ({ text, priceHint, ...given }): SuggestedPrompt => ({
                text,
                source: given.source ?? source,
                ...(priceHint !== undefined && { priceHint }),
              }),
            ),
        ],
        'must be texts, or objects like { "text": "…", "source": "sdk" }',
      ),
      "must be a list",
    )
    .max(MAX_PROMPTS, `has more than ${MAX_PROMPTS} entries`);

const executePrice = field.usd.transform((amount) => formatUsd(amount));

// What the owner says of a tool, as it is sent and before it is signed. What this makes of it is what the signature is for.
export const registration = z.object({
  toolId,
  name: toolName,
  description: words(5_000).meta({ examples: ["What a transaction on Base costs, a block at a time"] }),
  category: category.default(null),
  // Readers of URLs drop line breaks and write other letters in their own way, and the token for it names it as it stands here.
  endpoint: z
    .string("must be the http or https URL of an MCP server")
    .max(2_000, "is too long")
    .regex(/^[!-~]+$/, "must be in plain ASCII without spaces, with other characters escaped as in a browser's address")
    .pipe(z.url({ protocol: /^https?$/, error: "must be the http or https URL of an MCP server" }))
    .meta({ examples: ["https://tools.example/mcp"] }),
  defaultExecutePriceUsd: executePrice.nullable().default(null),
  executePrices: z
    .record(field.method, executePrice)
    .refine((prices) => Object.keys(prices).length <= 200, "has more than 200 entries")
    .default({}),
  suggestedPrompts: prompts("contributor").default([]),
});
