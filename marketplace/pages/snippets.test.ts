import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { snippetsOf } from "./snippets.ts";

const purchase = {
  baseUrl: "https://market.example",
  toolId: "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b",
  method: `it's "x" \\ $(id) \`id\` \u202e\u2028 😀`,
  args: { "'; id; '": ["\n", null, true, 1.5, { deep: "é" }], "__proto__\\": "" },
};
const codeOf = (language: string) => snippetsOf(purchase).find((snippet) => snippet.language === language)?.code ?? "";

describe("how to buy a call", () => {
  it("is plain ASCII, whatever the tool is called", () => {
    for (const { code } of snippetsOf(purchase)) expect(code).toMatch(/^[\n -~]+$/);
  });

  it("a shell sends what was meant, and runs nothing", () => {
    const run = `curl() { for argument; do printf '%s\\0' "$argument"; done; }\n${codeOf("curl")}`;
    const sent = execFileSync("sh", ["-c", run], { encoding: "utf8", env: { CONTEXT_API_KEY: "sk_live_x" } }).split(
      "\0",
    );
    expect(sent[0]).toBe("https://market.example/api/v1/tools/execute");
    expect(sent[2]).toBe("authorization: Bearer sk_live_x");
    const { toolId, method: toolName, args } = purchase;
    expect(JSON.parse(sent[6] ?? "")).toEqual({ toolId, toolName, args });
  });

  it("a TypeScript program asks for what was meant", () => {
    const body = codeOf("TypeScript").split("\n").slice(2).join("\n").replace("const { result } = await", "return");
    const asked: unknown[] = [];
    class ContextClient {
      tools = { execute: (options: unknown) => asked.push(options) };
    }
    new Function("ContextClient", "process", body)(ContextClient, { env: {} });
    const { toolId, method: toolName, args } = purchase;
    expect(asked).toEqual([{ toolId, toolName, args }]);
  });

  it("a Python program has literals of its own", () => {
    expect(codeOf("Python")).toContain(String.raw`tool_name="it's \"x\" \\ $(id) ${"`id`"} \u202e\u2028 \U0001f600",`);
    expect(codeOf("Python")).toContain(
      String.raw`args={"'; id; '": ["\u000a", None, True, 1.5, {"deep": "\u00e9"}], "__proto__\\": ""},`,
    );
  });
});
