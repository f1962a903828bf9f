import { z } from "zod";
import { fetchJson } from "../fetchJson.ts";
import type { ContextSource } from "../source.ts";

// The API writes decimals as texts; the SDK's types say numbers.
const decimal = z.coerce.number();

const summary = z.looseObject({ accountValue: decimal, totalMarginUsed: decimal, totalNtlPos: decimal });

const stateSchema = z.looseObject({
  marginSummary: summary,
  crossMarginSummary: summary,
  withdrawable: decimal,
  assetPositions: z.array(
    z.looseObject({
      position: z.looseObject({
        coin: z.string(),
        szi: decimal,
        entryPx: decimal.nullish(),
        unrealizedPnl: decimal,
        liquidationPx: decimal.nullish(),
        positionValue: decimal,
        leverage: z.looseObject({ type: z.enum(["cross", "isolated"]), value: decimal }),
        marginUsed: decimal,
        returnOnEquity: decimal,
        cumFunding: z.looseObject({ allTime: decimal, sinceOpen: decimal }).optional(),
      }),
    }),
  ),
});

const ordersSchema = z.array(
  z.looseObject({
    oid: z.number(),
    coin: z.string(),
    side: z.enum(["B", "A"]),
    limitPx: decimal,
    sz: decimal,
    origSz: decimal,
    orderType: z.string().default("Limit"),
    reduceOnly: z.boolean().default(false),
    isTrigger: z.boolean().default(false),
    triggerPx: decimal.nullish(),
    timestamp: z.number(),
  }),
);

const spotSchema = z.looseObject({ balances: z.array(z.looseObject({ coin: z.string(), total: decimal })) });

export type HyperliquidOptions = { url?: string; nowMs?: () => number };

// An account on Hyperliquid, in the fields of the SDK's types and in those of the API itself: tools exist for both.
export function createHyperliquidSource(options: HyperliquidOptions = {}): ContextSource {
  const { url = "https://api.hyperliquid.xyz/info", nowMs = Date.now } = options;
  return async (address, signal) => {
    const ask = <T>(type: string, schema: z.ZodType<T>) =>
      fetchJson(url, schema, { signal, body: { type, user: address } });
    const [state, orders, spot] = await Promise.all([
      ask("clearinghouseState", stateSchema),
      ask("frontendOpenOrders", ordersSchema),
      ask("spotClearinghouseState", spotSchema),
    ]);
    return {
      ...state,
      walletAddress: address,
      perpPositions: state.assetPositions.map(({ position }) => ({
        coin: position.coin,
        size: position.szi,
        entryPrice: position.entryPx ?? 0,
        ...(position.szi !== 0 && { markPrice: position.positionValue / Math.abs(position.szi) }),
        unrealizedPnl: position.unrealizedPnl,
        liquidationPrice: position.liquidationPx ?? null,
        positionValue: position.positionValue,
        leverage: { type: position.leverage.type, value: position.leverage.value },
        marginUsed: position.marginUsed,
        returnOnEquity: position.returnOnEquity,
        cumFunding: {
          allTime: position.cumFunding?.allTime ?? 0,
          sinceOpen: position.cumFunding?.sinceOpen ?? 0,
        },
      })),
      openOrders: orders.map((order) => ({
        oid: order.oid,
        coin: order.coin,
        side: order.side,
        limitPrice: order.limitPx,
        size: order.sz,
        originalSize: order.origSz,
        orderType: order.orderType,
        reduceOnly: order.reduceOnly,
        isTrigger: order.isTrigger,
        ...(order.isTrigger && { triggerPrice: order.triggerPx ?? 0 }),
        timestamp: order.timestamp,
      })),
      spotBalances: spot.balances.map(({ coin, total }) => ({ token: coin, balance: total })),
      accountSummary: {
        accountValue: state.marginSummary.accountValue,
        totalMarginUsed: state.marginSummary.totalMarginUsed,
        totalNotionalPosition: state.marginSummary.totalNtlPos,
        withdrawable: state.withdrawable,
        crossMargin: {
          accountValue: state.crossMarginSummary.accountValue,
          totalMarginUsed: state.crossMarginSummary.totalMarginUsed,
        },
      },
      fetchedAt: new Date(nowMs()).toISOString(),
    };
  };
}
