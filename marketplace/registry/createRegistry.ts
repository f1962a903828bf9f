import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import type { Reader } from "../../settlement/ledger/database/sql.ts";
import type { Signed, SignIn } from "../accounts/signIn.ts";
import type { MarketChain } from "../chain/openChain.ts";
import { inPieces } from "../database/inPieces.ts";
import type { Store } from "../database/openStore.ts";
import type { McpClient } from "../mcp/createMcpClient.ts";
import { describeFailure } from "../mcp/outcome.ts";
import type { PreparedJudge } from "../schema/createJudge.ts";
import { TOOL_ID_HEADER } from "../toolkit/middleware/toolIdHeader.ts";
import { type Check, checkTool } from "./checkTool.ts";
import { createStandings } from "./createStandings.ts";
import { createTurns } from "./createTurns.ts";
import { findNamesake, findRival } from "./findRival.ts";
import type { Listing, Registration, Standing } from "./listing.ts";
import {
  ANOTHER_TOOL,
  delistOthers,
  findListing,
  forgetAbandoned,
  saveListing,
  saveMethods,
  savePing,
  saveStanding,
  saveTexts,
  type Texts,
  takeDuePings,
} from "./listings.ts";
import { statementOf } from "./statementOf.ts";

export type SignToken = (request: { endpoint: string; toolId: string; purpose?: "smoke-test" }) => Promise<string>;

export type RegistryOptions = {
  store: Store;
  clock: Clock;
  chain: Pick<MarketChain, "tools">;
  signIn: SignIn;
  mcp: McpClient;
  judge: PreparedJudge;
  sign: SignToken;
  // Whoever keeps listings in memory hears of changes at once.
  changed?: (listing: Listing) => void;
};

// A no is an answer, with a sentence for each thing that was looked at.
export type RegistrationOutcome = { listing: Listing | null; checks: Check[]; warnings: string[] };

export type Registry = {
  // The message that the tool's owner signs to list it as described.
  challenge(registration: Registration): Promise<{ message: string; expiresAtMs: number }>;
  register(registration: Registration, signed: Signed): Promise<RegistrationOutcome>;
  // How a listing stands, for its owner.
  inspect(toolId: string, caller: Address): Promise<Listing>;
  // Asks the server for its methods again.
  refresh(toolId: string, caller: Address): Promise<RegistrationOutcome>;
  update(toolId: string, caller: Address, texts: Partial<Texts>): Promise<Listing>;
  // Pings what is due. Returns how many answered and how many did not.
  pingDue(): Promise<{ answered: number; failed: number }>;
  // Reads how tools stand on chain, and keeps what has changed.
  readStandings(listings: readonly Listing[]): Promise<void>;
  // Forgets what nobody has ever paid for and nobody stands for any more.
  forgetAbandoned(): Promise<void>;
};

const DAY_MS = 24 * 60 * 60 * 1_000;
const HOUR_MS = 60 * 60 * 1_000;
// A name that is never anybody's (RFC 6761).
const NOBODYS_ENDPOINT = "https://another-tool.invalid/mcp";
const MAX_FAILURES = 3;
const PINGS_AT_A_TIME = 20;
// For how long a listing without a stake is kept, so that its owner can come back.
const ABANDONED_MS = 30 * DAY_MS;
const FORGOTTEN: Listing["status"] = { kind: "delisted", reason: "it was without a stake for too long" };
// Registration is one request, whose client waits.
const MAX_CHECK_MS = 100_000;

export function createRegistry(options: RegistryOptions): Registry {
  const { store, clock, chain, signIn, mcp, judge, sign, changed = () => {} } = options;
  const inTurn = createTurns(clock);
  const readStanding = createStandings(chain, clock);

  async function standingOf(toolId: string): Promise<Standing> {
    const tool = await readStanding(toolId);
    if (tool === null) {
      throw new ApiError("not_found", `there is no tool ${toolId} on chain; list it with npx hardhat list-tool first`);
    }
    return { ...tool, owner: tool.owner.toLowerCase() as Address };
  }

  // Who owns a tool is asked of the chain each time: it may have been sold a block ago.
  async function owned(toolId: string, caller: Address): Promise<{ listing: Listing; standing: Standing }> {
    const listing = await findListing(store.read, toolId);
    if (listing === null) throw new ApiError("not_found", `there is no tool ${toolId}`);
    const standing = await standingOf(toolId);
    if (standing.owner !== caller) {
      throw new ApiError("forbidden", `the tool belongs to ${standing.owner}, and this key to ${caller}`);
    }
    return { listing, standing };
  }

  // Whoever has a tool's name, or one that looks like it, is bought in its place.
  async function refuseNamesake(name: string, { owner }: Standing): Promise<void> {
    const namesake = await findNamesake(store.read, name, owner);
    if (namesake === null) return;
    throw new ApiError(
      "conflict",
      `the name reads like that of the tool ${namesake}, which is somebody else's and proven; choose another`,
    );
  }

  // All that its owner describes, or its methods alone, which are then not called.
  async function list(
    registration: Registration,
    standing: Standing,
    what: "all" | "methods",
  ): Promise<RegistrationOutcome> {
    const { endpoint } = registration;
    // Whoever lists a stranger's server would be paid for what that answers.
    async function refuseRival(sql: Reader): Promise<void> {
      const rival = await findRival(sql, endpoint, standing.owner);
      if (rival === null) return;
      throw new ApiError(
        "conflict",
        `somebody else offers ${endpoint} as tool ${rival}; if the server is yours, name your tool's id as toolId in its ` +
          `protection, send it in the header ${TOOL_ID_HEADER}, or write it into the server's instructions on a line that begins so; then register again`,
      );
    }
    const { checks, methods, warnings, toolIds } = await checkTool(registration, standing, {
      connection: mcp.connect(endpoint),
      judge,
      token: () => sign({ endpoint, toolId: "smoke-test", purpose: "smoke-test" }),
      foreignToken: () => sign({ endpoint: NOBODYS_ENDPOINT, toolId: "smoke-test", purpose: "smoke-test" }),
      signal: AbortSignal.timeout(MAX_CHECK_MS),
      call: what === "all",
      unnamed: () => refuseRival(store.read),
    });
    if (!checks.every(({ ok }) => ok)) return { listing: null, checks, warnings };
    const nowMs = clock.nowMs();
    const nextPingAtMs = nowMs + DAY_MS;
    const save = what === "all" ? saveListing : saveMethods;
    const { saved, others } = await store.alone(async (sql) => {
      const saved = await save(sql, { registration, standing, methods, warnings, nextPingAtMs }, nowMs);
      if (typeof saved === "string") return { saved, others: [] };
      if (toolIds !== null) return { saved, others: await delistOthers(sql, endpoint, toolIds, nowMs) };
      // Again, now that nobody else writes: two who come at once have both found nobody before.
      await refuseRival(sql);
      return { saved, others: [] };
    });
    if (saved === "changed") {
      throw new ApiError("conflict", "the listing was changed while its methods were read; refresh it again");
    }
    if (saved === "conflict") {
      throw new ApiError("conflict", `you have listed ${endpoint} as another tool already; refresh or change that one`);
    }
    for (const listing of [saved, ...others]) changed(listing);
    return { listing: saved, checks, warnings };
  }

  return {
    async challenge(registration) {
      const { owner } = await standingOf(registration.toolId);
      return signIn.challenge(owner, statementOf(registration));
    },

    async register(registration, signed) {
      const signer = await signIn.verify(signed, statementOf(registration));
      const standing = await standingOf(registration.toolId);
      if (standing.owner !== signer) {
        throw new ApiError("forbidden", `the tool belongs to ${standing.owner}, and ${signer} has signed`);
      }
      await refuseNamesake(registration.name, standing);
      return inTurn(signer, () => list(registration, standing, "all"));
    },

    async inspect(toolId, caller) {
      const { listing, standing } = await owned(toolId, caller);
      return { ...listing, ...standing };
    },

    async refresh(toolId, caller) {
      await owned(toolId, caller);
      return inTurn(caller, async () => {
        // As they are when it is their turn.
        const { listing, standing } = await owned(toolId, caller);
        return list(listing, standing, "methods");
      });
    },

    async update(toolId, caller, texts) {
      const { standing } = await owned(toolId, caller);
      if (texts.name !== undefined) await refuseNamesake(texts.name, standing);
      const saved = await store.alone((sql) => saveTexts(sql, toolId, texts, clock.nowMs()));
      if (saved === null) throw new ApiError("not_found", `there is no tool ${toolId}`);
      changed(saved);
      return saved;
    },

    async pingDue() {
      const nowMs = clock.nowMs();
      const due = await store.alone((sql) => takeDuePings(sql, nowMs, nowMs + HOUR_MS, PINGS_AT_A_TIME));
      const answers = await Promise.all(
        due.map(async ({ toolId, endpoint, status }) => {
          const outcome = await mcp.connect(endpoint).ping({ token: () => sign({ endpoint, toolId }) });
          // What a server has said once it need not say again: whoever is somebody else's comes back by name alone, or by registering.
          const wasOthers = status.kind === "delisted" && status.reason === ANOTHER_TOOL;
          const isOthers =
            outcome.kind === "alive" && !(outcome.toolIds === null ? !wasOthers : outcome.toolIds.includes(toolId));
          const answered = outcome.kind === "alive" && !isOthers;
          const saved = await store.alone((sql) =>
            savePing(sql, toolId, {
              answered,
              maxFailures: isOthers ? 1 : MAX_FAILURES,
              reason:
                outcome.kind === "alive"
                  ? ANOTHER_TOOL
                  : `its server has not answered ${MAX_FAILURES} times: ${describeFailure(outcome)}`,
              // One that fails is soon looked at again, so that it is gone in hours and back in one.
              nextPingAtMs: nowMs + (answered ? DAY_MS : HOUR_MS),
            }),
          );
          if (saved !== null) changed(saved);
          return answered;
        }),
      );
      const answered = answers.filter(Boolean).length;
      return { answered, failed: answers.length - answered };
    },

    async readStandings(listings) {
      const found = await chain.tools(listings.map(({ toolId }) => toolIdFromUuid(toolId)));
      for (const [i, listing] of listings.entries()) {
        const tool = found[i];
        if (tool === null || tool === undefined) continue;
        const standing: Standing = { ...tool, owner: tool.owner.toLowerCase() as Address };
        if (isSameStanding(listing, standing)) continue;
        const saved = await store.alone((sql) => saveStanding(sql, listing.toolId, standing, clock.nowMs()));
        // What is forgotten is not asked about again and again.
        changed({ ...(saved ?? { ...listing, status: FORGOTTEN }), ...standing });
      }
    },

    forgetAbandoned: () =>
      inPieces((limit) => store.alone((sql) => forgetAbandoned(sql, clock.nowMs() - ABANDONED_MS, limit))),
  };
}

const isSameStanding = (a: Standing, b: Standing) =>
  a.owner === b.owner && a.price === b.price && a.stake === b.stake && a.requiredStake === b.requiredStake;
