import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import { z } from "zod";

type ByStatus = Readonly<Record<string, z.ZodType | { content: Record<string, { schema: z.ZodType }> }>>;

// Compares every answer with what its route says that it answers: an undeclared status, a missing field and a field too many
// are each an error, so that whatever a test asks shows whether the document is true.
export function checkAnswers(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, sent) => {
    // JSON that is sent part by part is compared as a whole. Events and images go their way: whoever reads them waits for each.
    const isParts = sent instanceof Readable && `${reply.getHeader("content-type")}`.startsWith("application/json");
    const payload = isParts ? await text(sent) : sent;
    const { method, url, config } = request.routeOptions;
    const declared = config.documented?.response as ByStatus | undefined;
    if (declared === undefined) return payload;
    const difference = differenceOf(declared[reply.statusCode], `${reply.getHeader("content-type")}`, payload);
    if (difference === null) return payload;
    throw new Error(`${method} ${url} answered ${reply.statusCode}, and ${difference}: ${payload}`);
  });
}

function differenceOf(declared: ByStatus[string] | undefined, contentType: string, payload: unknown): string | null {
  if (declared === undefined) return "does not say that it does";
  const [type = ""] = contentType.split(";");
  const schema = declared instanceof z.ZodType ? declared : declared.content[type]?.schema;
  if (schema === undefined) return `does not say that it answers ${type}`;
  if (type !== "application/json") return null;
  const body: unknown = JSON.parse(`${payload}`);
  const parsed = schema.safeParse(body);
  if (!parsed.success) return z.prettifyError(parsed.error);
  return isDeepStrictEqual(parsed.data, body) ? null : "has fields that its schema does not know";
}
