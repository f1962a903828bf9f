import { z } from "zod";
import { ApiError } from "../../errors.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";

const MAX_MINUTES = 10_080;
const MAX_STEPS = 240;

export const figuresRoutes = [
  route({
    method: "GET",
    path: "/v1/figures",
    access: "public",
    summary: "Sums, queues, health, and a time line in steps of some minutes",
    query: z.strictObject({
      minutes: field.whole(1, MAX_MINUTES).optional(),
      step: field.whole(1, MAX_MINUTES).optional(),
    }),
    async handle({ query: { minutes = 60, step = 1 }, services: { readings } }) {
      if (minutes % step !== 0 || minutes / step > MAX_STEPS) {
        throw new ApiError("invalid_request", `step has to divide minutes into ${MAX_STEPS} parts or fewer.`);
      }
      return { body: await readings.figures(minutes, step) };
    },
  }),
];
