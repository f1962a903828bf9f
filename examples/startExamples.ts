import { createServer } from "node:http";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  type ContextListener,
  close,
  handleMcp,
  listen,
  type SignAnswersOptions,
  type VerifierOptions,
  withContext,
} from "../marketplace/toolkit/index.ts";
import { type ChainOptions, createChain } from "./chain.ts";
import { createDates } from "./dates.ts";
import { createMischief } from "./mischief.ts";
import { createSeries } from "./series.ts";
import { createText } from "./text.ts";

export type ExamplesOptions = {
  host?: string;
  // Zero takes any that is free.
  port?: number;
  chain: ChainOptions;
  // The marketplace whose calls are taken.
  marketplace: Omit<VerifierOptions, "audience" | "toolId">;
  // What each is listed as on chain, so that nobody sells it as a tool of their own. A tool that is left out takes every token
  // for its address.
  toolIds?: Partial<Record<ExampleName, string>>;
  // Who answers for the dates; unsigned without.
  signing?: SignAnswersOptions;
};

// What a listing says about an example.
export type Example = {
  name: string;
  description: string;
  category: string;
  endpoint: string;
  // Of a Query response, in dollars.
  price: string;
  // What people may ask of it.
  suggestedPrompts: readonly string[];
};

export type Examples = { tools: Readonly<Record<ExampleName, Example>>; close(): Promise<void> };

export type ExampleName = "chain" | "series" | "text" | "dates" | "mischief";

export const LISTINGS: Readonly<Record<ExampleName, Omit<Example, "endpoint">>> = {
  chain: {
    name: "Chain data",
    description: "Blocks, balances, gas prices and transactions of the chain, for those who run no node.",
    category: "Crypto & DeFi",
    price: "0.10",
    suggestedPrompts: ["What is the number of the newest block?", "How much gas was used in block 1?"],
  },
  series: {
    name: "Time series",
    description: "Statistics, moving averages, returns and correlations of time series, computed and not guessed.",
    category: "Financial Markets",
    price: "0.05",
    suggestedPrompts: ["What is the median of 3, 1, 2?", "Plot the moving average of 3, 5, 4, 8, 9 with window 2"],
  },
  text: {
    name: "Text facts",
    description: "Words, sentences, keywords, addresses and numbers in a text, and how alike two texts are.",
    category: "Utility",
    price: "0.05",
    suggestedPrompts: ['What are the keywords of "to be or not to be a fox, fox"?'],
  },
  dates: {
    name: "Settlement dates",
    description: "Business days, settlement dates and day counts, each answer signed by the tool.",
    category: "Financial Markets",
    price: "0.20",
    suggestedPrompts: ["When does a trade of 2026-11-13 settle?"],
  },
  mischief: {
    name: "Mischief",
    description: "Misbehaves in every way that a marketplace must survive. For tests and demonstrations.",
    category: "Developer Tools",
    price: "0.01",
    suggestedPrompts: [],
  },
};

// Starts all examples behind one port, each at a path of its own: `npm start` and tests have their tools from here.
export async function startExamples(options: ExamplesOptions): Promise<Examples> {
  const { host = "127.0.0.1", port = 0, marketplace, toolIds = {}, signing } = options;
  const listeners: Record<ExampleName, ContextListener> = {
    chain: handleMcp(createChain(options.chain)),
    series: handleMcp(createSeries),
    text: handleMcp(createText),
    dates: handleMcp(() => createDates(signing)),
    mischief: (request, response) => handleMcp((): McpServer => createMischief(request, response))(request, response),
  };
  const routes = new Map<string, ReturnType<typeof withContext>>();
  const server = createServer((request, response) => {
    const serve = routes.get(URL.parse(request.url ?? "", "http://localhost")?.pathname ?? "");
    if (serve === undefined) response.writeHead(404).end();
    else void serve(request, response);
  });
  const origin = await listen(server, host, port);
  const tools = {} as Record<ExampleName, Example>;
  for (const name of Object.keys(LISTINGS) as ExampleName[]) {
    const path = `/${name}/mcp`;
    const endpoint = `${origin}${path}`;
    const toolId = toolIds[name];
    const protection = { ...marketplace, audience: endpoint, ...(toolId !== undefined && { toolId }) };
    routes.set(path, withContext(protection, listeners[name]));
    tools[name] = { ...LISTINGS[name], endpoint };
  }
  return { tools, close: () => close(server) };
}
