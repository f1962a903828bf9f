import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { startServer } from "../../../mcp/testing/startServer.ts";

export type Asked = {
  model: string;
  messages: { role: string; content: string | null; tool_call_id?: string }[];
  tools?: { function: { name: string; description: string } }[];
  authorization: string | undefined;
};

// What the model does with one request: speak, call functions, or misbehave.
export type Turn =
  // `pauseMs` between two tokens.
  | { say: string; usage?: Count; finish?: string; pauseMs?: number }
  | { call: readonly { name: string; arguments: string }[]; usage?: Count }
  | { status: number }
  // Ends the connection after a few tokens.
  | { cut: true }
  // Says so much, and never goes on.
  | { begin: string }
  | { raw: string }
  | { never: true };

// Tokens read and written, or whatever else an endpoint says of them.
type Count = [number, number] | Record<string, unknown> | null;

export type ScriptedModel = Awaited<ReturnType<typeof startModel>>;

// An endpoint that speaks the real wire, token by token, and says what a test has written. The script is asked for each
// request what comes next.
export async function startModel(script: (asked: Asked, number: number) => Turn) {
  // `left`: how many have gone before they had heard all.
  const state = { script, asked: [] as Asked[], left: 0 };
  const server = await startServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Asked;
    const asked = { ...body, authorization: request.headers.authorization };
    state.asked.push(asked);
    response.once("close", () => {
      if (!response.writableFinished) state.left += 1;
    });
    await perform(state.script(asked, state.asked.length), response);
  });
  return { ...server, state, url: `http://127.0.0.1:${server.port}/v1` };
}

async function perform(turn: Turn, response: ServerResponse): Promise<void> {
  if ("never" in turn) return;
  if ("status" in turn) return void response.writeHead(turn.status).end('{"error":{"message":"no"}}');
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (chunk: unknown) => void response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  const delta = (part: object, finish: string | null = null) =>
    send({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
  if ("begin" in turn) return void delta({ content: turn.begin });
  if ("raw" in turn) return void response.end(turn.raw);
  if ("cut" in turn) {
    delta({ content: "The answer is" });
    setImmediate(() => response.destroy());
    return;
  }
  // In small pieces, as models do.
  if ("say" in turn) {
    for (const token of turn.say.match(/[\s\S]{1,5}/gu) ?? []) {
      if (turn.pauseMs !== undefined) await pause(turn.pauseMs);
      delta({ content: token });
    }
  } else {
    for (const [index, { name, arguments: text }] of turn.call.entries()) {
      delta({ tool_calls: [{ index, id: `call-${index}`, type: "function", function: { name, arguments: "" } }] });
      for (const piece of text.match(/[\s\S]{1,7}/gu) ?? [])
        delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  delta({}, "say" in turn ? (turn.finish ?? "stop") : "tool_calls");
  const usage = turn.usage === undefined ? [1_000, 100] : turn.usage;
  const counted = Array.isArray(usage) ? { prompt_tokens: usage[0], completion_tokens: usage[1] } : usage;
  if (counted !== null) send({ choices: [], usage: counted });
  response.end("data: [DONE]\n\n");
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
