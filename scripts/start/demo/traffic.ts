import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { formatUsd, microUsdc, parseUsd, sumOf } from "../../../settlement/domain/money.ts";
import type { Ask } from "../client.ts";
import { tell } from "../report.ts";
import { FICKLE_PAYER, FUNDS } from "./people.ts";
import type { World } from "./world.ts";

export type TrafficOptions = { ask: Ask; world: World; keys: ReadonlyMap<string, string>; signal: AbortSignal };

type Payer = World["payers"][number];
type Tool = World["tools"][number];

const SESSIONS = "/api/v1/tools/execute/sessions";
const AGENTS = 2;
// What goes wrong in the world: so many calls and answers fail, and cost nothing.
const FAILURE_RATE = 0.04;
const LOW_BALANCE = parseUsd("5");

// A gentle traffic through the daemon's HTTP API: Query turns as the platform reports them, and agents who run Execute
// sessions with their API keys as the public SDKs do.
export async function runTraffic(options: TrafficOptions): Promise<void> {
  const agents = Array.from({ length: AGENTS }, () => forever(options.signal, () => runSession(options)));
  await Promise.all([forever(options.signal, () => answerTurn(options)), ...agents]);
}

async function forever(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      tell("demo", `a request failed: ${error instanceof Error ? error.message : error}`);
      await pause(2_000, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function answerTurn({ ask, world, signal }: TrafficOptions): Promise<void> {
  await pause(between(400, 1_200), undefined, { signal });
  await recordTurn({ ask, world, signal }, anyOf(world.payers));
}

// A turn of one to three tools: the payer is looked at first, the answer takes its time, and then it is owed.
export async function recordTurn(
  { ask, world, signal }: Omit<TrafficOptions, "keys">,
  payer: Payer,
  used: readonly Tool[] = someOf(world.tools, between(1, 3)),
): Promise<void> {
  const modelCost = microUsdc(BigInt(between(4_000, 30_000)));
  const total = sumOf([modelCost, ...used.map(({ price }) => price)]);
  if (!(await canPay({ ask, world }, payer, formatUsd(total)))) return;
  await pause(between(200, 900), undefined, { signal });
  const turnId = `turn-${randomUUID()}`;
  const turn = {
    turnId,
    payer: payer.address,
    outcome: Math.random() < FAILURE_RATE ? "failed" : "delivered",
    modelCostUsd: formatUsd(modelCost),
    tools: used.map(({ uuid, priceUsd }) => ({ toolId: uuid, amountUsd: priceUsd, calls: between(1, 6) })),
    requestHash: hashOf(`question of ${turnId}`),
    responseHash: hashOf(`answer to ${turnId}`),
  };
  await ask("POST", "/v1/turns", turn, { idempotencyKey: turnId });
}

async function canPay({ ask, world }: Pick<TrafficOptions, "ask" | "world">, payer: Payer, amountUsd: string) {
  const { body } = await ask(
    "POST",
    "/v1/preflight",
    { payer: payer.address, amountUsd },
    { idempotencyKey: randomUUID() },
  );
  if (body.allowed === true) return true;
  const { balanceUsd = "0" } = (body.figures ?? {}) as { balanceUsd?: string };
  if (body.code === "payment_failed" && parseUsd(balanceUsd) < LOW_BALANCE) {
    await world.mint(payer.address, FUNDS.payerBalance);
    tell("top-up", `${payer.name} buys ${formatUsd(FUNDS.payerBalance)} USDC`);
  }
  // A cap that is used up is renewed. The one who takes it back now and then has reasons of its own.
  if (body.code === "insufficient_allowance" && payer.name !== FICKLE_PAYER && payer.dailyCap === 0n) {
    await world.approve(payer.address, FUNDS.payerAllowance);
    tell("spending cap", `${payer.name} renews it, ${formatUsd(FUNDS.payerAllowance)} USDC`);
  }
  return false;
}

// An agent's run: a budget, a few dozen calls of one tool, and the close.
async function runSession({ ask, world, keys, signal }: TrafficOptions): Promise<void> {
  await pause(between(500, 3_000), undefined, { signal });
  const payer = anyOf(world.payers);
  const key = keys.get(payer.address) ?? "";
  const started = await ask(
    "POST",
    SESSIONS,
    { mode: "execute", maxSpendUsd: "0.10" },
    { key, idempotencyKey: randomUUID() },
  );
  if (started.status !== 200) return;
  const { sessionId } = started.body.session as { sessionId: string };
  const tool = anyOf(world.tools);
  for (let calls = between(8, 30); calls > 0; calls -= 1) {
    if (!(await call({ ask, signal }, sessionId, tool))) break;
    await pause(between(60, 300), undefined, { signal });
  }
  await ask("GET", `${SESSIONS}/${sessionId}`, undefined, { key });
  await ask("POST", `${SESSIONS}/${sessionId}/close`, { mode: "execute" }, { key, idempotencyKey: randomUUID() });
}

async function call(
  { ask, signal }: Pick<TrafficOptions, "ask" | "signal">,
  sessionId: string,
  tool: Tool,
): Promise<boolean> {
  const callId = `call-${randomUUID()}`;
  const { uuid: toolId, method, methodUsd: priceUsd } = tool;
  const held = await ask(
    "POST",
    "/v1/calls",
    { callId, sessionId, toolId, method, priceUsd },
    { idempotencyKey: callId },
  );
  if (held.status !== 200) return false;
  await pause(between(20, 150), undefined, { signal });
  const verb = Math.random() < FAILURE_RATE ? "void" : "capture";
  await ask("POST", `/v1/calls/${callId}/${verb}`, {}, { idempotencyKey: `${callId}-${verb}` });
  return true;
}

const between = (min: number, max: number) => min + Math.floor(Math.random() * (max - min + 1));
const anyOf = <T>(items: readonly T[]): T => items[between(0, items.length - 1)] as T;
const someOf = <T>(items: readonly T[], count: number): T[] =>
  items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
const hashOf = (text: string) => `0x${createHash("sha256").update(text).digest("hex")}`;
