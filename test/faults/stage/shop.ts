import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScriptedModel, startModel, type Turn } from "../../../marketplace/query/models/testing/startModel.ts";
import { createKeyring } from "../../../marketplace/signing/keyring.ts";
import { type Ask, createClient, type Reply } from "../../../scripts/client/createClient.ts";
import { makeApiKey, registerTool, type Wallet } from "../../../scripts/marketplace/asWallet.ts";
import { startMarketplaceProgram } from "../../../scripts/marketplace/startMarket.ts";
import type { Program } from "../../../scripts/process/startProgram.ts";
import { until } from "../../../scripts/waiting/until.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { microUsdc, parseUsd } from "../../../settlement/domain/money.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { SERVICE_TOKEN } from "../../local/daemon/testDaemon.ts";
import { startFrontDoor } from "../../marketplace/startFrontDoor.ts";
import { GAS, startTool, structured, type ToolServer } from "../../marketplace/startTool.ts";
import type { DaemonProcess } from "../daemon/startDaemonProcess.ts";
import type { Balances } from "./balances.ts";
import type { Stage } from "./stage.ts";

export const PRICE = "0.001";
// Two requests of a thousand tokens, at a dollar for a million.
const MODEL_COST = microUsdc(2_000n);

// A marketplace in a process of its own before the stage's daemon, a tool on it that does what a case wants, and a buyer.
export type Shop = {
  stage: Stage;
  tool: ToolServer;
  // Lists the tool again, as its owner, with its methods as they are now.
  list(description: string): Promise<void>;
  // Buys one call; the key is the Idempotency-Key, and null for none.
  buy(key?: string | null): Promise<Reply>;
  // The model that answers questions, and what it does with each request of a turn, in their order.
  model: ScriptedModel;
  plan(...steps: Turn[]): void;
  // Asks a question, whose job is given, and how that job stands.
  ask(key?: string): Promise<string>;
  job(id: string): Promise<{ status: string; error: string | null }>;
  ended(id: string): Promise<string>;
  // The marketplace reaches no daemon, or hears none of its answers, until the next `startDaemon` or `openDoor`.
  shutDoor(how?: "afterwards"): void;
  openDoor(): void;
  // When the marketplace has printed something.
  printed(what: RegExp): Promise<unknown>;
  killMarketplace(): Promise<void>;
  startMarketplace(): Promise<void>;
  // Starts a daemon on the same ledger, behind the address that the marketplace knows.
  startDaemon(): Promise<void>;
  // Whether nothing of the buyer's is reserved any more.
  nothingIsHeld(): Promise<void>;
  // So many calls and these questions were delivered: each is charged once and settled, and nothing else is.
  settled(delivered: number, questions?: readonly string[]): Promise<Balances>;
};

type Charge = { callId?: string; turnId?: string; amountUsd: string };

export async function inShop<T>(stage: Stage, work: (shop: Shop) => Promise<T>): Promise<T> {
  const endings: (() => Promise<unknown>)[] = [];
  try {
    return await work(await openShop(stage, endings));
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

async function openShop(stage: Stage, endings: (() => Promise<unknown>)[]): Promise<Shop> {
  const { world, folder } = stage;
  const door = await startFrontDoor();
  endings.push(door.close);
  const environmentOfDaemon = {
    // What is reported after a session was to be closed is due by its age, which nobody wants to wait for here.
    SETTLEMENT_FLUSH_SECONDS: "1",
    // Nothing happens to the chain in a shop, and a daemon that others wait a minute for should look at it less often.
    SETTLEMENT_RPC_URLS: world.url,
    SETTLEMENT_TICK_MS: "250",
  };
  const startDaemon = async () => door.open(urlOf(await stage.start({ environment: environmentOfDaemon })));
  const openDoor = () => door.open(urlOf(stage.daemon));
  await startDaemon();
  const tool = await startTool();
  endings.push(tool.close);
  let steps: readonly Turn[] = [];
  // As many turns of its own as the model has heard of are behind it.
  const model = await startModel(
    ({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? { say: "It is 12." },
  );
  endings.push(model.close);
  const models = join(folder, "models.json");
  const prices = { inputUsdPerMillion: "1", outputUsdPerMillion: "0", maxCostUsd: "0.01" };
  writeFileSync(models, JSON.stringify([{ id: "scripted", url: model.url, model: "scripted", ...prices }]));
  const signingKeys = join(folder, "signing-keys.json");
  await createKeyring(signingKeys);
  const environment = {
    PATH: process.env.PATH ?? "",
    MARKETPLACE_CHAIN_ID: `${world.chainId}`,
    MARKETPLACE_RPC_URLS: world.url,
    MARKETPLACE_ROUTER: await world.router.getAddress(),
    MARKETPLACE_DATABASE: join(folder, "marketplace.db"),
    MARKETPLACE_LISTEN: "127.0.0.1:0",
    MARKETPLACE_PUBLIC_URL: "https://market.example",
    MARKETPLACE_SETTLEMENT_URL: door.url,
    MARKETPLACE_SETTLEMENT_TOKEN: SERVICE_TOKEN,
    MARKETPLACE_SIGNING_KEYS: signingKeys,
    MARKETPLACE_PRIVATE_ENDPOINTS: "on",
    MARKETPLACE_HOLDER: "marketplace",
    MARKETPLACE_MODELS: models,
  };
  let marketplace: Program | undefined;
  let url = "";
  endings.push(async () => marketplace?.stop());
  const startMarketplace = async () => {
    ({ program: marketplace, url } = await startMarketplaceProgram(environment));
  };
  await startMarketplace();
  const ask: Ask = (...request) => createClient({ url, serviceToken: "" })(...request);

  const { toolId: id, developer, price } = stage.tool(0);
  const toolId = uuidFromToolId(id);
  const list = async (description: string) => {
    const registration = { toolId, endpoint: tool.url, name: "Gas", description };
    const { listed, checks } = await registerTool(ask, walletOf(developer), registration);
    assert.equal(listed, true, JSON.stringify(checks));
  };
  await list("Prices");
  tool.state.calls = 0;
  const [account] = world.payers;
  if (account === undefined) throw new RangeError("there is no payer");
  const payer = stage.payer(0);
  const key = await makeApiKey(ask, walletOf(account), "agent");

  async function job(jobId: string) {
    const { body } = await ask("GET", `/api/v1/query/jobs/${jobId}?waitSeconds=0`, undefined, { key });
    return { status: String(body.status), error: body.error as string | null };
  }

  return {
    stage,
    tool,
    list,
    buy(idempotencyKey = randomUUID()) {
      const named = idempotencyKey === null ? {} : { idempotencyKey };
      return ask("POST", "/api/v1/tools/execute", { toolId, toolName: GAS.name, args: {} }, { key, ...named });
    },
    model,
    plan(...planned) {
      steps = planned;
    },
    async ask(idempotencyKey = randomUUID()) {
      const question = { query: "What are the current gas prices of Base?", tools: [toolId] };
      const { status, body } = await ask("POST", "/api/v1/query/jobs", question, { key, idempotencyKey });
      assert.equal(status, 202, JSON.stringify(body));
      return body.jobId as string;
    },
    job,
    ended: (jobId) =>
      until("the job to end", async () => {
        const { status } = await job(jobId);
        return (status === "completed" || status === "failed") && status;
      }),
    shutDoor: door.shut,
    openDoor,
    printed: async (what) => marketplace?.printed(what),
    async killMarketplace() {
      await marketplace?.kill();
    },
    startMarketplace,
    startDaemon,
    async nothingIsHeld() {
      await until("nothing to be reserved", async () => {
        const { body } = await stage.daemon.ask("GET", `/v1/payers/${payer}`);
        return body.heldUsd === "0.00";
      });
    },
    async settled(delivered, questions = []) {
      const chargesOf = async () => {
        const { body } = await stage.daemon.ask("GET", `/v1/charges?payer=${payer}`);
        return body.charges as Charge[];
      };
      // A question is charged for its tool and for its model.
      const due = delivered + 2 * questions.length;
      await until(`${due} charges`, async () => (await chargesOf()).length === due);
      for (const turnId of questions) {
        const tools = [{ toolId: id, amount: microUsdc(price) }];
        stage.platform.acknowledged.turns.set(turnId, { turnId, payer, modelCost: MODEL_COST, tools });
      }
      await stage.settled();
      const charges = await chargesOf();
      assert.equal(charges.length, due, "what was delivered is charged, and nothing else");
      assert.deepEqual(
        charges.flatMap(({ turnId }) => turnId ?? []).sort(),
        questions.flatMap((turnId) => [turnId, turnId]).sort(),
      );
      for (const { callId, amountUsd } of charges) {
        if (callId === undefined) continue;
        assert.equal(amountUsd, PRICE);
        stage.platform.acknowledged.calls.set(callId, { payer, amount: microUsdc(parseUsd(PRICE)) });
      }
      return stage.balances();
    },
  };
}

const walletOf = (account: KeyedAccount): Wallet => ({
  address: account.address,
  signMessage: (message) => account.signMessage(message),
});

const urlOf = (daemon: DaemonProcess) => `${daemon.events("started").at(-1)?.url}`;

// An answer as the tool promises it.
export const promised = () => structured({ value: 12 });
