import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { createModelClient } from "./createModelClient.ts";
import { type ScriptedModel, startModel, type Turn } from "./testing/startModel.ts";

let server: ScriptedModel;
beforeAll(async () => {
  server = await startModel(() => ({ say: "" }));
});
afterAll(() => server.close());

const NOTHING = microUsdc(0n);
const PATIENTLY = { timeout: 120_000 };
const never = new AbortController().signal;

function ask(turn: Turn, { timeoutMs = 60_000, signal = never } = {}) {
  server.state.script = () => turn;
  server.state.asked.splice(0);
  server.state.left = 0;
  const { url } = server;
  const prices = { inputPrice: NOTHING, outputPrice: NOTHING, maxCost: NOTHING };
  const client = createModelClient({ id: "m", url, model: "m", key: null, ...prices }, { timeoutMs });
  return client.complete({ messages: [{ role: "user", content: "?" }], tools: [], maxTokens: 10, signal });
}

it("a model that speaks slowly is heard to its end", async () => {
  expect(await ask({ say: "It weighs 420 grams, Zoë 🐘.", pauseMs: 5 })).toMatchObject({
    content: "It weighs 420 grams, Zoë 🐘.",
    isCut: false,
    isRefused: false,
  });
});

it.each<[string, Turn]>([
  ["never answers", { never: true }],
  ["begins and never goes on", { begin: "It" }],
])("a model that %s is given up after its time, and not asked without end", async (_what, turn) => {
  // Counted here: on a slow machine the time is over before the endpoint has heard of it.
  const fetched = vi.spyOn(globalThis, "fetch");
  try {
    await expect(ask(turn, { timeoutMs: 200 })).rejects.toMatchObject({
      name: "ModelFailure",
      message: "the model took too long",
    });
    expect(fetched).toHaveBeenCalledTimes(3);
  } finally {
    fetched.mockRestore();
  }
});

it("a completion for somebody who has gone is broken off, and not asked for again", async () => {
  const fetched = vi.spyOn(globalThis, "fetch");
  const going = new AbortController();
  const asked = ask({ begin: "It" }, { signal: going.signal });
  const refused = expect(asked).rejects.toMatchObject({ name: "AbortError" });
  await expect.poll(() => server.state.asked.length, PATIENTLY).toBeGreaterThan(0);
  going.abort();
  await refused;
  await expect.poll(() => server.state.left, PATIENTLY).toBeGreaterThan(0);
  expect(fetched).toHaveBeenCalledTimes(1);
  fetched.mockRestore();
});

it("what a filter has cut off is a refusal, whatever came before it", async () => {
  expect(await ask({ say: "It weighs", finish: "content_filter" })).toMatchObject({ isRefused: true });
  const refusal = { choices: [{ delta: { refusal: "I cannot." }, finish_reason: "stop" }] };
  expect(await ask({ raw: `data: ${JSON.stringify(refusal)}\n\ndata: [DONE]\n\n` })).toMatchObject({ isRefused: true });
});
