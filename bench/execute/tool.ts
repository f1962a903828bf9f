// A paid MCP server of its own, made with the official SDK and the toolkit, for the benchmark of Execute.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { serveTool } from "../../marketplace/toolkit/index.ts";

const [, , issuer = "", jwksUrl = ""] = process.argv;

function create(): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool(
    "add",
    {
      description: "Adds two numbers",
      inputSchema: { a: z.number().default(1), b: z.number().default(2) },
      outputSchema: { sum: z.number() },
      _meta: { pricing: { executeUsd: "0.0001" }, latencyClass: "instant" },
    },
    ({ a, b }) => {
      const structuredContent = { sum: a + b };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  return server;
}

const { url } = await serveTool(create, { protect: { issuer, jwksUrl } });
console.log(JSON.stringify({ url }));
