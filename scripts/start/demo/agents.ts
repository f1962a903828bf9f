import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { formatUsd } from "../../../settlement/domain/money.ts";
import type { Ask, Reply } from "../../client/createClient.ts";
import { tell } from "../report.ts";
import type { Cast } from "./cast.ts";
import { type Errand, errands } from "./errands.ts";
import { FICKLE_PAYER, FUNDS, YOU } from "./people.ts";
import { anyOf, between } from "./random.ts";

// `ask` speaks to the marketplace, as the public SDKs do.
export type AgentOptions = { ask: Ask; cast: Cast; keys: ReadonlyMap<string, string>; signal: AbortSignal };

type Payer = Cast["payers"][number];
type Found = { id: string; mcpTools: { name: string }[] };
type Target = { toolId: string; toolName: string };

const SESSIONS = "/api/v1/tools/execute/sessions";
const AGENTS = 3;
const BUDGET_USD = "0.10";
const MAX_FIRST_PAUSE_MS = 500;

// A few agents, each of whom looks for a tool, buys some calls of it in one of the ways that there are, and looks for the next.
export async function runAgents(options: AgentOptions): Promise<void> {
  const { cast, signal } = options;
  const buyers = cast.payers.filter(({ name }) => name !== YOU);
  const addresses = cast.payers.map(({ address }) => address);
  await Promise.all(
    Array.from({ length: AGENTS }, async () => {
      await pause(between(0, MAX_FIRST_PAUSE_MS), undefined, { signal });
      while (!signal.aborted) {
        try {
          await runErrand(options, anyOf(buyers), anyOf(errands(addresses)));
          await pause(between(300, 1_500), undefined, { signal });
        } catch (error) {
          if (signal.aborted) return;
          tell("demo", `a request failed: ${error instanceof Error ? error.message : error}`);
          await pause(2_000, undefined, { signal });
        }
      }
    }),
  );
}

async function runErrand(options: AgentOptions, payer: Payer, errand: Errand): Promise<void> {
  const { ask, keys } = options;
  const key = keys.get(payer.address) ?? "";
  const found = await ask(
    "GET",
    `/api/v1/tools/search?mode=execute&q=${encodeURIComponent(errand.search)}`,
    undefined,
    {
      key,
    },
  );
  const { tools = [] } = found.body as { tools?: Found[] };
  const tool = tools.find(({ mcpTools }) => mcpTools.some(({ name }) => name === errand.method));
  // One that is not offered at the moment is not found.
  if (tool === undefined) return;
  const target = { toolId: tool.id, toolName: errand.method };
  await anyOf([inSession, withBudget, onItsOwn])(options, payer, errand, target);
}

type Way = (options: AgentOptions, payer: Payer, errand: Errand, target: Target) => Promise<void>;

// A session with a budget, some calls, and the close.
const inSession: Way = async (options, payer, errand, target) => {
  const { ask, keys } = options;
  const key = keys.get(payer.address) ?? "";
  const started = await ask("POST", SESSIONS, { mode: "execute", maxSpendUsd: BUDGET_USD }, keyed(key));
  if (await isRefused(options, payer, started)) return;
  const { sessionId } = started.body.session as { sessionId: string };
  for (let calls = between(5, 20); calls > 0; calls -= 1) {
    const answer = await buy(options, payer, { ...target, args: errand.args(), sessionId });
    if (await isRefused(options, payer, answer)) break;
  }
  await ask("GET", `${SESSIONS}/${sessionId}`, undefined, { key });
  await ask("POST", `${SESSIONS}/${sessionId}/close`, { mode: "execute" }, keyed(key));
};

// The first call brings the budget along, the others go on in it, and the last one closes it.
const withBudget: Way = async (options, payer, errand, target) => {
  const first = await buy(options, payer, { ...target, args: errand.args(), maxSpendUsd: BUDGET_USD });
  if (await isRefused(options, payer, first)) return;
  const { sessionId = null } = (first.body.session ?? {}) as { sessionId?: string | null };
  for (let calls = between(1, 8); calls > 0 && sessionId !== null; calls -= 1) {
    const closing = calls === 1 ? { closeSession: true } : {};
    const answer = await buy(options, payer, { ...target, args: errand.args(), sessionId, ...closing });
    if (await isRefused(options, payer, answer)) return;
  }
};

const onItsOwn: Way = async (options, payer, errand, target) => {
  await isRefused(options, payer, await buy(options, payer, { ...target, args: errand.args() }));
};

// One call, under a key of its own: a marketplace that is killed and comes back goes unnoticed.
export async function buy({ ask, keys, signal }: AgentOptions, payer: Payer, body: object): Promise<Reply> {
  await pause(between(60, 300), undefined, { signal });
  const answer = await ask(
    "POST",
    "/api/v1/tools/execute",
    { mode: "execute", ...body },
    keyed(keys.get(payer.address) ?? ""),
  );
  return answer;
}

const keyed = (key: string) => ({ key, idempotencyKey: randomUUID() });

// Whether there is no point in going on. A tool that failed is one's bad luck; whoever cannot pay does something about it,
// except for the one who takes the allowance back now and then, who has reasons of its own.
async function isRefused({ cast }: AgentOptions, payer: Payer, { status, body }: Reply): Promise<boolean> {
  if (status < 400 || body.code === "execution_failed") return false;
  if (body.code === "payment_failed" && payer.name !== FICKLE_PAYER) {
    await cast.mint(payer, FUNDS.payerBalance);
    tell("top-up", `${payer.name} buys ${formatUsd(FUNDS.payerBalance)} USDC`);
  }
  if (body.code === "insufficient_allowance" && payer.name !== FICKLE_PAYER && payer.dailyCap === 0n) {
    await cast.approve(payer, FUNDS.payerAllowance);
    tell("spending cap", `${payer.name} renews it, ${formatUsd(FUNDS.payerAllowance)} USDC`);
  }
  return true;
}
