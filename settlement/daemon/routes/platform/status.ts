import { statusSchema } from "../../../views/service/status.ts";
import { route } from "../../http/route.ts";
import { readStatus } from "../../observability/reads/readStatus.ts";

export const statusRoutes = [
  route({
    method: "GET",
    path: "/v1/status",
    access: "platform",
    summary: "Sums by state, queues and whether settlement is halted",
    answer: statusSchema,
    async handle({ services: { ledger } }) {
      return { body: await readStatus(ledger) };
    },
  }),
];
