import { z } from "zod";
import { contestSchema, contestView } from "../../../views/batches/contest.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";

export const contestRoutes = [
  route({
    method: "GET",
    path: "/v1/contests",
    access: "platform",
    summary: "Rows of our batches that somebody has contested, newest first, and what became of the answer",
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    answer: z.object({ contests: z.array(contestSchema) }),
    async handle({ query: { limit, offset }, services: { ledger } }) {
      return { body: { contests: (await ledger.listContests(limit, offset)).map(contestView) } };
    },
  }),
];
