import { z } from "zod";
import { route } from "../route.ts";

export const wellKnownRoutes = [
  route({
    method: "GET",
    path: "/.well-known/jwks.json",
    access: "anybody",
    summary: "The keys with which requests to tools are signed, the current one first",
    answer: z.object({ keys: z.array(z.looseObject({ kid: z.string(), x5c: z.array(z.string()) })) }),
    async handle({ services: { jwks } }) {
      const headers = { "cache-control": "public, max-age=300" };
      return { body: (await jwks()) as { keys: { kid: string; x5c: string[] }[] }, headers };
    },
  }),
];
