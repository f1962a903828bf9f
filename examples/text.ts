import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { answer, method } from "./method.ts";

const MAX_CHARACTERS = 200_000;
const WORDS_PER_MINUTE = 230;
const COMMON = new Set(
  "a an and are as at be but by for from has have he her his i in is it its not of on or our she that the their they this to was we were will with you your".split(
    " ",
  ),
);

const text = z
  .string()
  .max(MAX_CHARACTERS)
  .describe("plain text in any language")
  .meta({
    examples: ["Settle many small calls with one transaction. See https://base.org, or write to hello@example.com."],
  });

// Plain facts about texts, without a model.
export function createText(): McpServer {
  const server = new McpServer({ name: "text", version: "1.0.0" });

  server.registerTool(
    "measure",
    method({
      description: "Characters as people count them, words, sentences, and minutes to read a text.",
      price: "0.0005",
      input: { text },
      output: {
        characters: z.number().int(),
        words: z.number().int(),
        sentences: z.number().int(),
        readingMinutes: z.number(),
      },
    }),
    ({ text }) => {
      const words = wordsOf(text).length;
      return answer({
        characters: segments(text, "grapheme").length,
        words,
        sentences: segments(text, "sentence").filter(({ segment }) => segment.trim() !== "").length,
        readingMinutes: Math.ceil((10 * words) / WORDS_PER_MINUTE) / 10,
      });
    },
  );

  server.registerTool(
    "keywords",
    method({
      description: "The words that a text uses most, without the common ones.",
      price: "0.001",
      input: { text, limit: z.number().int().min(1).max(100).default(10) },
      output: { keywords: z.array(z.object({ word: z.string(), count: z.number().int() })) },
    }),
    ({ text, limit }) => {
      const counts = new Map<string, number>();
      for (const word of wordsOf(text)) if (!COMMON.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
      const sorted = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b, "en"));
      return answer({ keywords: sorted.slice(0, limit).map(([word, count]) => ({ word, count })) });
    },
  );

  server.registerTool(
    "extract",
    method({
      description: "Every web address, e-mail address, Ethereum address and number in a text, in order.",
      price: "0.001",
      input: { text },
      output: {
        urls: z.array(z.string()),
        emails: z.array(z.string()),
        addresses: z.array(z.string()),
        numbers: z.array(z.number()),
      },
    }),
    ({ text }) => {
      const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([found]) => found);
      return answer({
        urls: all(/https?:\/\/[^\s<>"')]*[^\s<>"').,;:!?]/g),
        emails: all(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g),
        addresses: all(/\b0x[0-9a-fA-F]{40}\b/g),
        numbers: all(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w])/g).map(Number),
      });
    },
  );

  server.registerTool(
    "compare",
    method({
      description: "How alike two texts are, from 0 to 1, by the words that they share, and which ones they do not.",
      price: "0.001",
      input: { a: text, b: text },
      output: { similarity: z.number(), onlyInA: z.array(z.string()), onlyInB: z.array(z.string()) },
    }),
    ({ a, b }) => {
      const [inA, inB] = [new Set(wordsOf(a)), new Set(wordsOf(b))];
      const onlyInA = [...inA].filter((word) => !inB.has(word));
      const onlyInB = [...inB].filter((word) => !inA.has(word));
      const all = inA.size + onlyInB.length;
      return answer({ similarity: all === 0 ? 1 : (inA.size - onlyInA.length) / all, onlyInA, onlyInB });
    },
  );

  return server;
}

const segments = (text: string, granularity: "grapheme" | "sentence" | "word") => [
  ...new Intl.Segmenter("en", { granularity }).segment(text),
];

const wordsOf = (text: string): string[] =>
  segments(text.normalize().toLowerCase(), "word")
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment);
