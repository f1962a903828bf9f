import { z } from "zod";
import * as field from "../../../settlement/daemon/http/fields.ts";
import { formatUsd } from "../../../settlement/domain/money.ts";
import { sentenceOf } from "../../../settlement/domain/text/sentence.ts";
import * as shape from "../../../settlement/views/shapes.ts";
import type { Catalogue } from "../../discovery/createCatalogue.ts";
import { promptSchema, toolSchema, toolView } from "../../discovery/toolView.ts";
import { CHECKS } from "../../registry/checkTool.ts";
import type { RegistrationOutcome } from "../../registry/createRegistry.ts";
import { CATEGORIES, isOffered, isStaked, type Listing, type Registration } from "../../registry/listing.ts";
import { signed } from "../fields.ts";
import { category, prompts, registration, toolName, words } from "../registration.ts";
import { accountOf, route } from "../route.ts";

const checkSchema = z.object({
  check: z.enum(CHECKS),
  ok: z.boolean(),
  say: z.string(),
});

const outcomeSchema = z.object({
  listed: z.boolean(),
  checks: z.array(checkSchema),
  warnings: z.array(z.string()),
  tool: toolSchema.nullable(),
});

const outcomeView = ({ listing, checks, warnings }: RegistrationOutcome): z.infer<typeof outcomeSchema> => ({
  listed: listing !== null,
  checks,
  warnings: warnings.map(sentenceOf),
  tool: listing === null ? null : toolView(listing),
});

// As it is looked up everywhere else; what is no UUID is no tool.
const params = z.object({ id: z.string().toLowerCase() });

const updateAnswer = z.object({
  id: z.guid(),
  name: z.string(),
  description: z.string(),
  suggestedPrompts: z.array(promptSchema),
  category: z.enum(CATEGORIES).nullable(),
  updatedAt: shape.time,
});

// What owners of tools do. A no to a registration is an answer, with a sentence for each thing that was looked at.
export const registrationRoutes = [
  route({
    method: "POST",
    path: "/api/v1/tools/challenge",
    access: "anybody",
    summary: "The message that a tool's owner signs to list it as described",
    body: registration,
    answer: z.object({ message: z.string(), expiresAt: shape.time }),
    errors: ["not_found"],
    async handle({ body, services: { registry } }) {
      const { message, expiresAtMs } = await registry.challenge(body satisfies Registration);
      return { body: { message, expiresAt: shape.timeOf(expiresAtMs) } };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/tools",
    access: "anybody",
    summary: "List a tool, or change its listing, with the signature of its owner on chain; its server is tried first",
    body: registration.extend(signed),
    answer: outcomeSchema,
    errors: ["not_found", "forbidden", "conflict"],
    async handle({ body: { message, signature, ...described }, services: { registry }, log }) {
      const outcome = await registry.register(described, { message, signature });
      log.info({ event: "registered", tool: described.toolId, listed: outcome.listing !== null }, "registration");
      return { body: outcomeView(outcome) };
    },
  }),
  route({
    method: "POST",
    path: "/api/v1/tools/:id/refresh",
    access: "account",
    summary: "Ask a tool's server for its methods again; for the owner's key",
    params,
    body: field.nothing,
    answer: outcomeSchema,
    errors: ["not_found", "forbidden", "conflict"],
    async handle({ params: { id }, caller, services: { registry }, log }) {
      const outcome = await registry.refresh(id, accountOf(caller));
      log.info({ event: "refreshed", tool: id, listed: outcome.listing !== null }, "refresh");
      return { body: outcomeView(outcome) };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/v1/tools/:id",
    access: "account",
    summary: "Change what a listing says; for the owner's key",
    params,
    body: z
      .object({
        name: toolName.optional(),
        description: words(5_000).optional(),
        suggestedPrompts: prompts("sdk").optional(),
        category: category.optional(),
      })
      .refine(
        (body) => Object.values(body).some((value) => value !== undefined),
        "name, description, suggestedPrompts or category must be given",
      ),
    example: { description: "What a transaction on Base costs, a block at a time" },
    answer: updateAnswer,
    errors: ["not_found", "forbidden", "conflict"],
    async handle({ params: { id }, body, caller, services: { registry }, log }) {
      const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
      const listing = await registry.update(id, accountOf(caller), given);
      log.info({ event: "listing_updated", tool: id }, "listing updated");
      const { name, description, suggestedPrompts, updatedAtMs } = listing;
      const updatedAt = shape.timeOf(updatedAtMs);
      return {
        body: { id, name, description, suggestedPrompts: [...suggestedPrompts], category: listing.category, updatedAt },
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/tools/:id/status",
    access: "account",
    summary:
      "How a listing stands: whether it is offered, why it is not or is not found, and what its contributor should look at; for the owner's key",
    params,
    answer: z.object({
      id: z.guid(),
      offered: z.boolean(),
      reason: z.string().nullable(),
      owner: shape.address,
      endpoint: z.string(),
      stakeUsd: shape.usd,
      requiredStakeUsd: shape.usd,
      pings: shape.count,
      pingsAnswered: shape.count,
      failuresInARow: shape.count,
      calls: shape.count,
      callsSucceeded: shape.count,
      refreshedAt: shape.time,
      warnings: z.array(z.string()),
    }),
    errors: ["not_found", "forbidden"],
    async handle({ params: { id }, caller, services: { registry, catalogue } }) {
      const listing = await registry.inspect(id, accountOf(caller));
      const { owner, endpoint, pings, pingsAnswered, failuresInARow, calls, callsSucceeded } = listing;
      const reason = reasonOf(listing, catalogue);
      return {
        body: {
          id,
          offered: isOffered(listing),
          reason: reason === null ? null : sentenceOf(reason),
          owner,
          endpoint,
          stakeUsd: formatUsd(listing.stake),
          requiredStakeUsd: formatUsd(listing.requiredStake),
          pings,
          pingsAnswered,
          failuresInARow,
          calls,
          callsSucceeded,
          refreshedAt: shape.timeOf(listing.refreshedAtMs),
          warnings: listing.warnings.map(sentenceOf),
        },
      };
    },
  }),
];

// Why it is not offered, or why no search finds it. Null: nothing is in its way.
function reasonOf(listing: Listing, { isSearched, waiting }: Pick<Catalogue, "isSearched" | "waiting">): string | null {
  if (listing.status.kind === "delisted") return listing.status.reason;
  if (!isStaked(listing)) return "its stake is below what it requires";
  // A stake that has just come back has its place in half a minute, if there is one.
  if (isSearched(listing.toolId) || waiting() === 0) return null;
  return (
    "no search finds it, because others have more at stake, or have earned more, for each place that they take; whoever knows " +
    "its id buys from it as ever: add to its stake with npx hardhat stake, or shorten it"
  );
}
