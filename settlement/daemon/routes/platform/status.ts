import { readStatus } from "../../readStatus.ts";
import { route } from "../../route.ts";

export const statusRoutes = [
  route({
    method: "GET",
    path: "/v1/status",
    access: "platform",
    summary: "Sums by state, queues and whether settlement is halted",
    async handle({ services: { ledger } }) {
      return { body: await readStatus(ledger) };
    },
  }),
];
