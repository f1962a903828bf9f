import { type Hex, hexToBigInt, isHex, numberToHex } from "viem";
import type { Clock } from "../../clock.ts";
import type { Block } from "../chain.ts";
import type { Endpoints } from "./endpoints.ts";
import { createHeadRanking, type Ranking, type SeenHead, type Standing } from "./rankHeads.ts";

export type EndpointStanding = {
  endpoint: string;
  standing: Standing | { kind: "silent" };
  // Its newest block, if it named one.
  head: Block | null;
};

export type SurveyOptions = {
  endpoints: Endpoints;
  clock: Clock;
  // For nodes that do not know the `finalized` tag: blocks this deep are taken for final instead.
  finalityDepthBlocks: bigint | undefined;
  compared: ((standings: readonly EndpointStanding[]) => void) | undefined;
};

// Heads are compared this often at most: every question of a step then goes to the endpoint that was found best.
const MAX_AGE_MS = 1_000;
// Whoever takes longer to name its head is no better than one that is silent.
const PATIENCE_MS = 3_000;
const QUANTITY = /^0x[0-9a-f]{1,64}$/i;

// Compares what the endpoints say of the chain, and has the best of them asked first. Null with nothing to compare: there is
// one endpoint, or none answers.
export function createSurvey({ endpoints, clock, finalityDepthBlocks, compared }: SurveyOptions) {
  const rank = createHeadRanking();
  let last: { ranking: Promise<Ranking | null>; atMs: number } | undefined;

  async function blockOf(endpoint: string, at: string): Promise<Block | null> {
    const answer = await endpoints.askOne(endpoint, "eth_getBlockByNumber", [at, false], PATIENCE_MS);
    return answer.kind === "result" ? parseBlock(answer.result) : null;
  }

  async function see(endpoint: string): Promise<SeenHead | null> {
    const [head, tagged] = await Promise.all([
      blockOf(endpoint, "latest"),
      finalityDepthBlocks === undefined ? blockOf(endpoint, "finalized") : null,
    ]);
    if (head === null) return null;
    if (finalityDepthBlocks === undefined) return { endpoint, head, finalized: tagged };
    const number = head.number > finalityDepthBlocks ? head.number - finalityDepthBlocks : 0n;
    return { endpoint, head, finalized: await blockOf(endpoint, numberToHex(number)) };
  }

  async function look(): Promise<Ranking | null> {
    const seen = (await Promise.all(endpoints.names.map(see))).filter((one) => one !== null);
    if (seen.length === 0) return null;
    const nowMs = clock.nowMs();
    const now = { nowMs, elapsedMs: clock.elapsedMs?.() ?? nowMs };
    const ranking = await rank(seen, now, async (endpoint, number) => {
      const block = await blockOf(endpoint, numberToHex(number));
      return block?.hash ?? null;
    });
    endpoints.rank(ranking.order);
    compared?.(
      endpoints.names.map((endpoint) => ({
        endpoint,
        standing: ranking.standings.get(endpoint) ?? { kind: "silent" },
        head: seen.find((one) => one.endpoint === endpoint)?.head ?? null,
      })),
    );
    return ranking;
  }

  return async (): Promise<Ranking | null> => {
    if (endpoints.names.length < 2) return null;
    const nowMs = clock.nowMs();
    if (last === undefined || nowMs - last.atMs >= MAX_AGE_MS || nowMs < last.atMs) {
      last = { ranking: look(), atMs: nowMs };
    }
    return last.ranking;
  };
}

// What is no block is no answer.
function parseBlock(answer: unknown): Block | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { number, hash, timestamp } = answer as Record<string, unknown>;
  if (!isQuantity(number) || !isQuantity(timestamp) || !isHex(hash)) return null;
  return { number: hexToBigInt(number), hash, timestampMs: Number(hexToBigInt(timestamp)) * 1_000 };
}

const isQuantity = (value: unknown): value is Hex => typeof value === "string" && QUANTITY.test(value);
