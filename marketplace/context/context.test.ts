import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createContextProviders } from "./createContextProviders.ts";
import { createHyperliquidSource } from "./sources/createHyperliquidSource.ts";
import { createPolymarketSource } from "./sources/createPolymarketSource.ts";

const wallet: Address = "0x00000000000000000000000000000000000000aa";
const nobody: Address = "0x00000000000000000000000000000000000000bb";
const nowMs = () => 1_800_000_000_000;
const { signal } = new AbortController();

// What the public APIs answer, in their own words, for one account that has something and for all others.
const PERP = {
  ...{ coin: "ETH", szi: "-2.0", entryPx: "2500.5", positionValue: "4800.0", unrealizedPnl: "201.0" },
  ...{ returnOnEquity: "0.4", liquidationPx: null, marginUsed: "480.0", maxLeverage: 50 },
  ...{ leverage: { type: "cross", value: 10 }, cumFunding: { allTime: "1.5", sinceOpen: "-0.5", sinceChange: "0" } },
};
const MARGIN = { accountValue: "1000.0", totalMarginUsed: "480.0", totalNtlPos: "4800.0", totalRawUsd: "5800.0" };
const NONE = { accountValue: "0.0", totalMarginUsed: "0.0", totalNtlPos: "0.0", totalRawUsd: "0.0" };
const ORDER = {
  ...{ coin: "BTC", side: "B", limitPx: "60000.0", sz: "0.1", origSz: "0.2", oid: 7, timestamp: 1_700_000_000_000 },
  ...{ orderType: "Stop Market", reduceOnly: true, isTrigger: true, triggerPx: "61000.0" },
};

const hyperliquid: Record<string, (has: boolean) => unknown> = {
  clearinghouseState: (has) => ({
    ...{
      marginSummary: has ? MARGIN : NONE,
      crossMarginSummary: has ? MARGIN : NONE,
      withdrawable: has ? "520.0" : "0.0",
    },
    ...{ assetPositions: has ? [{ type: "oneWay", position: PERP }] : [], time: 1 },
  }),
  frontendOpenOrders: (has) => (has ? [ORDER] : []),
  spotClearinghouseState: (has) => ({ balances: has ? [{ coin: "USDC", token: 0, hold: "0.0", total: "12.5" }] : [] }),
};

const polymarket: Record<string, (has: boolean) => unknown> = {
  "/positions": (has) =>
    has
      ? [
          { conditionId: "0x1", asset: "11", outcome: "Yes", outcomeIndex: 0, size: 10, avgPrice: 0.4, title: "Rain?" },
          { conditionId: "0x2", asset: "22", outcome: "Lakers", outcomeIndex: 1, size: 5, avgPrice: 0.6 },
        ]
      : [],
  "/value": (has) => (has ? [{ user: wallet, value: 9.5 }] : []),
};

let url: string;
let answering = true;
const server = createServer(async (request, response) => {
  if (!answering) return void response.writeHead(503).end();
  const asked = new URL(request.url ?? "", "http://localhost");
  const body = request.method === "POST" ? JSON.parse(await textOf(request)) : { user: asked.searchParams.get("user") };
  const answer = request.method === "POST" ? hyperliquid[body.type] : polymarket[asked.pathname];
  response.setHeader("content-type", "application/json").end(JSON.stringify(answer?.(body.user === wallet)));
});

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe("an account on Hyperliquid", () => {
  it("has the SDK's fields, as numbers, beside the API's own", async () => {
    const context = await createHyperliquidSource({ url: `${url}/info`, nowMs })(wallet, signal);
    expect(context).toMatchObject({
      walletAddress: wallet,
      perpPositions: [
        {
          ...{ coin: "ETH", size: -2, entryPrice: 2500.5, markPrice: 2400, unrealizedPnl: 201, liquidationPrice: null },
          ...{ positionValue: 4800, leverage: { type: "cross", value: 10 }, marginUsed: 480, returnOnEquity: 0.4 },
          cumFunding: { allTime: 1.5, sinceOpen: -0.5 },
        },
      ],
      openOrders: [
        {
          ...{ oid: 7, coin: "BTC", side: "B", limitPrice: 60_000, size: 0.1, originalSize: 0.2 },
          ...{ orderType: "Stop Market", reduceOnly: true, isTrigger: true, triggerPrice: 61_000 },
        },
      ],
      spotBalances: [{ token: "USDC", balance: 12.5 }],
      accountSummary: {
        ...{ accountValue: 1000, totalMarginUsed: 480, totalNotionalPosition: 4800, withdrawable: 520 },
        crossMargin: { accountValue: 1000, totalMarginUsed: 480 },
      },
      fetchedAt: "2027-01-15T08:00:00.000Z",
      assetPositions: [{ position: { coin: "ETH", szi: -2 } }],
    });
  });

  it("may be empty, which is data", async () => {
    const context = await createHyperliquidSource({ url: `${url}/info` })(nobody, signal);
    expect(context).toMatchObject({ perpPositions: [], openOrders: [], spotBalances: [] });
  });
});

describe("an account on Polymarket", () => {
  it("has the SDK's fields", async () => {
    expect(await createPolymarketSource({ url, nowMs })(wallet, signal)).toEqual({
      walletAddress: wallet,
      positions: [
        { conditionId: "0x1", tokenId: "11", outcome: "YES", shares: 10, avgEntryPrice: 0.4, marketTitle: "Rain?" },
        { conditionId: "0x2", tokenId: "22", outcome: "NO", shares: 5, avgEntryPrice: 0.6 },
      ],
      openOrders: [],
      totalValue: 9.5,
      fetchedAt: "2027-01-15T08:00:00.000Z",
    });
    expect(await createPolymarketSource({ url })(nobody, signal)).toMatchObject({ positions: [] });
  });
});

describe("what is provided", () => {
  it("is of the wallet in use, and asked for once by those who ask at the same time", async () => {
    const asked: Address[] = [];
    const { wallet: provide, polymarket } = createContextProviders({
      wallet: async (address) => {
        asked.push(address);
        return { address };
      },
    });
    const answers = await Promise.all([provide?.([wallet, nobody]), provide?.([wallet]), provide?.([nobody])]);
    expect(answers).toEqual([{ address: wallet }, { address: wallet }, { address: nobody }]);
    expect(asked).toEqual([wallet, nobody]);
    expect(polymarket).toBeUndefined();
  });

  it("is asked for again after a failure", async () => {
    const { hyperliquid: provide } = createContextProviders({
      hyperliquid: createHyperliquidSource({ url: `${url}/info` }),
    });
    answering = false;
    await expect(provide?.([nobody])).rejects.toThrow("127.0.0.1 answered HTTP 503");
    answering = true;
    expect(await provide?.([nobody])).toMatchObject({ perpPositions: [] });
  });
});
