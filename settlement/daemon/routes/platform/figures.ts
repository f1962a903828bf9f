import { z } from "zod";
import { FIGURE_STEP_MS } from "../../../ledger/figures.ts";
import { ApiError } from "../../errors.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";

// A month, for which the time line is kept.
const MAX_MINUTES = 44_640;
const MAX_STEPS = 240;
// The ledger adds up this much at a time.
const SMALLEST_STEP_SECONDS = FIGURE_STEP_MS / 1_000;

export const figuresRoutes = [
  route({
    method: "GET",
    path: "/v1/figures",
    access: "public",
    summary: "Sums, queues, health, and a time line in steps of some seconds",
    query: z.strictObject({
      minutes: field.whole(1, MAX_MINUTES).optional(),
      stepSeconds: field.whole(SMALLEST_STEP_SECONDS, MAX_MINUTES * 60).optional(),
    }),
    async handle({ query: { minutes = 10, stepSeconds = 10 }, services: { readings } }) {
      const steps = (minutes * 60) / stepSeconds;
      if (stepSeconds % SMALLEST_STEP_SECONDS !== 0 || !Number.isInteger(steps) || steps > MAX_STEPS) {
        const sentence = `stepSeconds has to be a multiple of ${SMALLEST_STEP_SECONDS} and divide the minutes into ${MAX_STEPS} steps or fewer.`;
        throw new ApiError("invalid_request", sentence);
      }
      return { body: await readings.figures(minutes, stepSeconds) };
    },
  }),
];
