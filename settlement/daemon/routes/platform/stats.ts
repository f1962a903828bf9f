import { z } from "zod";
import { STATS_STEP_MS } from "../../../ledger/database/sums/stats.ts";
import { statsSchema } from "../../../views/service/stats.ts";
import { ApiError } from "../../http/errors.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";

// A month, for which the time line is kept.
const MAX_MINUTES = 44_640;
const MAX_STEPS = 240;
// The ledger adds up this much at a time.
const SMALLEST_STEP_SECONDS = STATS_STEP_MS / 1_000;

export const statsRoutes = [
  route({
    method: "GET",
    path: "/v1/stats",
    access: "public",
    summary: "Sums, queues, health, and a time line in steps of some seconds",
    query: z.strictObject({
      minutes: field.whole(1, MAX_MINUTES).optional(),
      stepSeconds: field.whole(SMALLEST_STEP_SECONDS, MAX_MINUTES * 60).optional(),
    }),
    answer: statsSchema,
    async handle({ query: { minutes = 10, stepSeconds = 10 }, services: { cachedReads } }) {
      const steps = (minutes * 60) / stepSeconds;
      if (stepSeconds % SMALLEST_STEP_SECONDS !== 0 || !Number.isInteger(steps) || steps > MAX_STEPS) {
        throw new ApiError(
          "invalid_request",
          `stepSeconds must be a multiple of ${SMALLEST_STEP_SECONDS} and divide the minutes into ${MAX_STEPS} steps or fewer`,
        );
      }
      return { body: await cachedReads.stats(minutes, stepSeconds) };
    },
  }),
];
