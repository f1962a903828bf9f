import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
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

// A marketplace in a process of its own before the stage's daemon, a tool on it that does what a case wants, and a buyer.
export type Shop = {
  stage: Stage;
  tool: ToolServer;
  // Lists the tool again, as its owner, with its methods as they are now.
  list(description: string): Promise<void>;
  // Buys one call; the key is the Idempotency-Key.
  buy(key?: string): Promise<Reply>;
  killMarketplace(): Promise<void>;
  startMarketplace(): Promise<void>;
  // Starts a daemon on the same ledger, behind the address that the marketplace knows.
  startDaemon(): Promise<void>;
  // Whether nothing of the buyer's is reserved any more.
  nothingIsHeld(): Promise<void>;
  // So many calls were delivered: each is charged once and settled, and nothing else is.
  settled(delivered: number): Promise<Balances>;
};

type Charge = { callId?: string; amountUsd: string };

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
  // What is reported after a session was to be closed is due by its age, which nobody wants to wait for here.
  const startDaemon = async () =>
    door.open(urlOf(await stage.start({ environment: { SETTLEMENT_FLUSH_SECONDS: "1" } })));
  await startDaemon();
  const tool = await startTool();
  endings.push(tool.close);
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
  };
  let marketplace: Program | undefined;
  let url = "";
  endings.push(async () => marketplace?.stop());
  const startMarketplace = async () => {
    ({ program: marketplace, url } = await startMarketplaceProgram(environment));
  };
  await startMarketplace();
  const ask: Ask = (...request) => createClient({ url, serviceToken: "" })(...request);

  const { toolId: id, developer } = stage.tool(0);
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

  return {
    stage,
    tool,
    list,
    buy: (idempotencyKey = randomUUID()) =>
      ask("POST", "/api/v1/tools/execute", { toolId, toolName: GAS.name, args: {} }, { key, idempotencyKey }),
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
    async settled(delivered) {
      const chargesOf = async () => {
        const { body } = await stage.daemon.ask("GET", `/v1/charges?payer=${payer}`);
        return body.charges as Charge[];
      };
      await until(`${delivered} charges`, async () => (await chargesOf()).length === delivered);
      await stage.settled();
      const charges = await chargesOf();
      assert.equal(charges.length, delivered, "what was delivered is charged, and nothing else");
      for (const { callId = "", amountUsd } of charges) {
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
