import { z } from "zod";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import * as shape from "../../../settlement/views/shapes.ts";
import { type EvidenceSummary, findEvidence, listEvidence } from "../../execute/evidence.ts";
import { accountOf, route } from "../route.ts";

const MAX_LISTED = 100;

const summarySchema = z.object({
  callId: z.string(),
  toolId: shape.toolId,
  method: z.string(),
  at: shape.time,
  problem: z.string(),
  isSigned: z.boolean(),
});

const summaryView = ({ atMs, ...evidence }: EvidenceSummary): z.infer<typeof summarySchema> => ({
  ...evidence,
  at: shape.timeOf(atMs),
});

// Answers that were something else than was promised, for whoever was given them. One is the file that the schema court's
// command takes, if the tool has signed it.
export const evidenceRoutes = [
  route({
    method: "GET",
    path: "/api/v1/evidence",
    access: "account",
    summary: "Answers to the account that were something else than their methods promise, newest first",
    answer: z.object({ evidence: z.array(summarySchema) }),
    async handle({ caller, services: { store } }) {
      const listed = await listEvidence(store.read, { account: accountOf(caller) }, MAX_LISTED);
      return { body: { evidence: listed.map(summaryView) } };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/evidence/:id",
    access: "account",
    summary: "Such an answer with its request, the schema, and what the tool has signed; npx hardhat convict takes it",
    params: z.object({ id: z.string() }),
    answer: summarySchema.extend({
      request: z.unknown().optional(),
      content: z.unknown().optional(),
      schema: z.unknown().optional(),
      answer: z.unknown().optional(),
    }),
    errors: ["not_found"],
    async handle({ params: { id }, caller, services: { store } }) {
      const found = await findEvidence(store.read, id, accountOf(caller));
      if (found === null) throw new ApiError("not_found", "there is no evidence of such a call of yours");
      const { request, content, schema, answer, ...summary } = found;
      return { body: { ...summaryView(summary), request, content, schema, answer } };
    },
  }),
];
