import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { OPEN_API } from "../http/openApi.ts";

// Everything that the page loads is a file of ours. Swagger UI draws icons from data: addresses, and hides one element with
// a style of its own, which is let in by its hash.
const HIDDEN_ELEMENT = "'unsafe-hashes' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='";
const CONTENT_SECURITY_POLICY =
  `default-src 'none'; script-src 'self'; style-src 'self' ${HIDDEN_ELEMENT}; img-src 'self' data:; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export type Document = { openapi: string; info: { title: string }; components: object };

// The document for programs and a page for people, on which requests can be tried with a key. It sees the routes that are
// registered after it and say something of themselves.
export async function registerDocs(app: FastifyInstance, about: Document = OPEN_API): Promise<void> {
  await app.register(swagger, {
    openapi: structuredClone(about) as never,
    transform: ({ route, ...rest }) => {
      const { example, ...documented } = route.config?.documented ?? { hide: true };
      const { schema, url } = jsonSchemaTransform({ ...rest, route, schema: documented });
      return { url, schema: example === undefined ? schema : withExample(schema, example) };
    },
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: CONTENT_SECURITY_POLICY,
    theme: { title: about.info.title },
    // Without the bar that asks for the address of another document.
    uiConfig: { layout: "BaseLayout", docExpansion: "list", tryItOutEnabled: true },
  });
  let document: string | undefined;
  app.get("/openapi.json", async (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.header("content-type", "application/json; charset=utf-8").send(document);
  });
}

const withExample = (schema: { body?: unknown }, example: unknown) => ({
  ...schema,
  body: { ...(schema.body as object), examples: [example] },
});
