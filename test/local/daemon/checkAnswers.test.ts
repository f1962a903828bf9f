import Fastify from "fastify";
import { expect, it } from "vitest";
import { z } from "zod";
import { answerErrors, errorSchema } from "../../../settlement/daemon/http/errors.ts";
import { checkAnswers } from "./checkAnswers.ts";

it.each([
  ["as declared", { n: 1 }, 200, 200],
  ["with another type", { n: "1" }, 200, 500],
  ["with a field too many", { n: 1, m: 2 }, 200, 500],
  ["under a status that is not declared", { n: 1 }, 404, 500],
])("an answer %s", async (_, body, sent, status) => {
  const app = Fastify();
  answerErrors(app);
  const documented = { response: { 200: z.object({ n: z.number() }), 500: errorSchema } };
  app.get("/", { config: { documented } }, async (_request, reply) => reply.code(sent).send(body));
  checkAnswers(app);
  expect((await app.inject("/")).statusCode).toBe(status);
  await app.close();
});
