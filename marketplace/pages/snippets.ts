// How to buy one call, in the languages that buyers speak. Names and arguments were written by whoever offers the tool, and
// end up in somebody's shell: every character beyond plain ASCII, and every quote that could end a literal, is written as an
// escape of the language.

export type Purchase = { baseUrl: string; toolId: string; method: string; args: Readonly<Record<string, unknown>> };

export type Snippet = { language: string; code: string };

export const snippetsOf = (purchase: Purchase): readonly Snippet[] => [
  { language: "curl", code: curl(purchase) },
  { language: "TypeScript", code: typeScript(purchase) },
  { language: "Python", code: python(purchase) },
];

// Stands for the question where the page's own script puts it in.
export const QUESTION_MARK = "QUESTION";

// How to ask a question without the page.
export function askSnippetsOf({ baseUrl, question }: { baseUrl: string; question: string }): readonly Snippet[] {
  const text = jsonOf(question);
  return [
    {
      language: "curl",
      code: [
        `curl ${baseUrl}/api/v1/query \\`,
        `  -H "authorization: Bearer $CONTEXT_API_KEY" -H 'content-type: application/json' \\`,
        `  -d '{"query":${text}}'`,
      ].join("\n"),
    },
    {
      language: "TypeScript",
      code: [
        'import { ContextClient } from "@ctxprotocol/sdk";',
        "",
        "const client = new ContextClient({",
        "  apiKey: process.env.CONTEXT_API_KEY,",
        `  baseUrl: ${jsonOf(baseUrl)},`,
        "});",
        "const answer = await client.query.run({",
        `  query: ${text},`,
        "});",
        "console.log(answer.response, answer.cost.totalCostUsd);",
      ].join("\n"),
    },
    {
      language: "Python",
      code: [
        "import asyncio, os",
        "from ctxprotocol import ContextClient",
        "",
        "async def main():",
        `    async with ContextClient(api_key=os.environ["CONTEXT_API_KEY"], base_url=${pythonOf(baseUrl)}) as client:`,
        `        answer = await client.query.run(${pythonOf(question)})`,
        "        print(answer.response)",
        "",
        "asyncio.run(main())",
      ].join("\n"),
    },
  ];
}

function curl({ baseUrl, toolId, method, args }: Purchase): string {
  const body = jsonOf({ toolId, toolName: method, args });
  return [
    `curl ${baseUrl}/api/v1/tools/execute \\`,
    `  -H "authorization: Bearer $CONTEXT_API_KEY" -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join("\n");
}

function typeScript({ baseUrl, toolId, method, args }: Purchase): string {
  return [
    'import { ContextClient } from "@ctxprotocol/sdk";',
    "",
    "const client = new ContextClient({",
    "  apiKey: process.env.CONTEXT_API_KEY,",
    `  baseUrl: ${jsonOf(baseUrl)},`,
    "});",
    "const { result } = await client.tools.execute({",
    `  toolId: ${jsonOf(toolId)},`,
    `  toolName: ${jsonOf(method)},`,
    `  args: ${jsonOf(args)},`,
    "});",
  ].join("\n");
}

function python({ baseUrl, toolId, method, args }: Purchase): string {
  return [
    "import asyncio, os",
    "from ctxprotocol import ContextClient",
    "",
    "async def main():",
    `    async with ContextClient(api_key=os.environ["CONTEXT_API_KEY"], base_url=${pythonOf(baseUrl)}) as client:`,
    "        answer = await client.tools.execute(",
    `            tool_id=${pythonOf(toolId)},`,
    `            tool_name=${pythonOf(method)},`,
    `            args=${pythonOf(args)},`,
    "        )",
    "        print(answer.result)",
    "",
    "asyncio.run(main())",
  ].join("\n");
}

// A quote that ends a shell's text is written as JSON's escape, so that the text needs no escapes of the shell.
const jsonOf = (value: unknown): string =>
  (JSON.stringify(value) ?? "null").replaceAll(/[^ -~]|'/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`);

function pythonOf(value: unknown): string {
  if (typeof value === "string") return pythonText(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return `${value}`;
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return "None";
  const entries = Object.entries(value).map(([key, entry]) => `${pythonText(key)}: ${pythonOf(entry)}`);
  return `{${entries.join(", ")}}`;
}

// By whole characters: Python does not read two halves as one.
const pythonText = (text: string): string =>
  `"${text.replaceAll(/[^ -~]|["\\]/gu, (character) => {
    if (character === '"' || character === "\\") return `\\${character}`;
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  })}"`;

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0");
