import { setTimeout as pause } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { z } from "zod";
import { type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import { writeWhole } from "../wire/writeResult.ts";
import type { Model } from "./readModels.ts";

export type ToolCall = { id: string; name: string; arguments: string };

export type Message =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; content: string; toolCalls: readonly ToolCall[] }
  | { role: "tool"; toolCallId: string; content: string };

export type FunctionTool = { name: string; description: string; parameters: object };

export type Usage = { inputTokens: number; outputTokens: number };

export type Completion = {
  content: string;
  toolCalls: readonly ToolCall[];
  usage: Usage | null;
  // Whether it had more to say than it was let.
  isCut: boolean;
  // Whether it, or whoever filters it, would not say it.
  isRefused: boolean;
};

export type ModelClient = {
  model: Model;
  complete(request: {
    messages: readonly Message[];
    tools: readonly FunctionTool[];
    maxTokens: number;
    signal: AbortSignal;
  }): Promise<Completion>;
};

// The endpoint refused, broke off, or said something else than it should. Nothing of it is shown to whoever asks.
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, options: { cause?: unknown } = {}) {
    super(message, options);
    this.retryable = retryable;
  }
}

const TRIES = 3;
const FIRST_WAIT_MS = 250;
// For one completion, from the request to its last token.
const TIMEOUT_MS = 120_000;
const TOO_SLOW = "the model took too long";
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_TOOL_CALLS = 32;

// One piece of a completion, as far as anything of it is read.
const chunkSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: z
          .looseObject({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.looseObject({
                  index: z.int().min(0).default(0),
                  id: z.string().nullish(),
                  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  // What is counted in a way that cannot be read is not counted, which is no reason to refuse the answer.
  usage: z
    .looseObject({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
  error: z.unknown().optional(),
});

// A model over the wire that all endpoints speak: chat completions, streamed, with functions. A completion that came in part is
// asked for again from its beginning, a bounded number of times; what was paid for the parts is the platform's loss.
export function createModelClient(model: Model, { timeoutMs = TIMEOUT_MS } = {}): ModelClient {
  async function once(body: string, signal: AbortSignal): Promise<Completion> {
    const late = AbortSignal.timeout(timeoutMs);
    const timed = AbortSignal.any([signal, late]);
    let response: Response;
    try {
      response = await fetch(`${model.url}/chat/completions`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "text/event-stream",
          ...(model.key !== null && { authorization: `Bearer ${model.key}` }),
        },
        body,
        signal: timed,
        redirect: "error",
      });
    } catch (cause) {
      signal.throwIfAborted();
      throw new ModelFailure(late.aborted ? TOO_SLOW : "the model cannot be reached", true, { cause });
    }
    if (!response.ok) {
      await response.body?.cancel();
      const retryable = response.status === 429 || response.status >= 500;
      throw new ModelFailure(`the model answered ${response.status}`, retryable);
    }
    try {
      return await read(response);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof ModelFailure) throw cause;
      throw new ModelFailure(late.aborted ? TOO_SLOW : "the model's answer broke off", true, { cause });
    }
  }

  async function read(response: Response): Promise<Completion> {
    let content = "";
    const calls: { id: string; name: string; arguments: string }[] = [];
    // Which of them each index stands for.
    const places = new Map<number, number>();
    let usage: Usage | null = null;
    let hasEnded = false;
    let isCut = false;
    let isRefused = false;
    let bytes = 0;
    const take = (data: string) => {
      if (data === "[DONE]") {
        hasEnded = true;
        return;
      }
      const chunk = chunkOf(data);
      if (chunk.usage) usage = { inputTokens: chunk.usage.prompt_tokens, outputTokens: chunk.usage.completion_tokens };
      const [choice] = chunk.choices;
      if (choice?.finish_reason) hasEnded = true;
      if (choice?.finish_reason === "length") isCut = true;
      if (choice?.finish_reason === "content_filter" || choice?.delta?.refusal) isRefused = true;
      content += choice?.delta?.content ?? "";
      for (const { index, id, function: part } of choice?.delta?.tool_calls ?? []) {
        // Some endpoints give every call the same index, and say by another id that it is another one.
        const known = places.get(index);
        const isOther = known === undefined || (id && calls[known]?.id && id !== calls[known]?.id);
        const place = isOther ? calls.length : known;
        places.set(index, place);
        if (place >= MAX_TOOL_CALLS) throw new ModelFailure("the model calls more tools at once than it may", false);
        const call = calls[place] ?? { id: "", name: "", arguments: "" };
        calls[place] = {
          id: id || call.id,
          name: call.name + (part?.name ?? ""),
          arguments: call.arguments + (part?.arguments ?? ""),
        };
      }
    };
    const parser = createParser({ onEvent: ({ data }) => take(data) });
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES) throw new ModelFailure("the model answers more than it may", false);
      parser.feed(decoder.decode(chunk, { stream: true }));
    }
    if (!hasEnded) throw new ModelFailure("the model's answer broke off", true);
    const toolCalls = calls.map((call, i) => ({ ...call, id: call.id || `call_${i}` }));
    return { content, toolCalls, usage, isCut, isRefused };
  }

  return {
    model,
    async complete({ messages, tools, maxTokens, signal }) {
      // Many endpoints refuse a whole request for half of a character, and tools' texts are cut anywhere.
      const body = writeWhole({
        model: model.model,
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0,
        max_tokens: maxTokens,
        messages: messages.map(wireOf),
        ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
      });
      for (let tries = 1; ; tries += 1) {
        try {
          return await once(body, signal);
        } catch (error) {
          if (!(error instanceof ModelFailure) || !error.retryable || tries === TRIES) throw error;
          await pause(FIRST_WAIT_MS * 4 ** (tries - 1), undefined, { signal });
        }
      }
    },
  };
}

function chunkOf(data: string): z.output<typeof chunkSchema> {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw new ModelFailure("the model's answer is not JSON", true, { cause });
  }
  const parsed = chunkSchema.safeParse(value);
  if (!parsed.success || parsed.data.error)
    throw new ModelFailure("the model's answer has another shape than it should", true);
  return parsed.data;
}

function wireOf(message: Message): object {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
  if (message.role !== "assistant") return message;
  const { role, content, toolCalls } = message;
  if (toolCalls.length === 0) return { role, content };
  const calls = toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  return { role, content: content === "" ? null : content, tool_calls: calls };
}

const MILLION = 1_000_000n;

// What tokens cost, to the micro-USDC. Rounded up once for all of a turn, which favours the platform: it has paid for them.
export function costOf({ inputPrice, outputPrice }: Model, { inputTokens, outputTokens }: Usage): MicroUsdc {
  const millionfold = BigInt(inputTokens) * inputPrice + BigInt(outputTokens) * outputPrice;
  return microUsdc((millionfold + MILLION - 1n) / MILLION);
}
