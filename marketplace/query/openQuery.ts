import type { Address } from "viem";
import type { MicroUsdc } from "../../settlement/domain/money.ts";
import type { ChargeView } from "../../settlement/views/charge.ts";
import { walletsOf } from "../accounts/walletsOf.ts";
import { createQuota } from "../database/createQuota.ts";
import { keepEvidence } from "../execute/evidence.ts";
import { schemaHashOf } from "../execute/judgeAnswer.ts";
import type { Observer } from "../execute/openExecute.ts";
import type { PaidCalls } from "../execute/paidCalls.ts";
import { hashText } from "../schema/hashJson.ts";
import { canonicalJson } from "../toolkit/answer/canonicalJson.ts";
import { createInterpreters } from "./interpreter/createInterpreters.ts";
import type { Backend } from "./interpreter/launch.ts";
import { createAllowance } from "./jobs/createAllowance.ts";
import { createJobs, type Jobs } from "./jobs/createJobs.ts";
import { createTurnReporter } from "./jobs/createTurnReporter.ts";
import { evictKept, findData, findImage } from "./jobs/jobs.ts";
import { createAgents } from "./models/createAgents.ts";
import type { Models } from "./models/readModels.ts";
import { createMemory, type MemoryOptions } from "./turn/createMemory.ts";
import { runTurn } from "./turn/runTurn.ts";
import { selectTools } from "./turn/selectTools.ts";

export type OpenQueryOptions = PaidCalls & {
  // Without any the built-in planner answers.
  models: Models;
  // Where the models' Python runs; null for none.
  interpreter: Backend | null;
  // How much of what tools have said is kept for one account.
  maxKeptBytes: number;
  memory?: MemoryOptions;
  // What models may cost a day for questions of one account that nobody pays for.
  maxUnpaid: MicroUsdc;
  observeUnpaid: (unpaid: MicroUsdc) => void;
  // How long a key is known after its question was answered.
  keysKeptMs: number;
  observer: Observer;
  observeTurn: (outcome: string, durationMs: number) => void;
};

export type OpenedQuery = {
  jobs: Jobs;
  findData(id: string): Promise<{ hash: string; body: string } | null>;
  findImage(hash: string): Promise<Buffer | null>;
  // What a job's turn is charged; null as long as the daemon has not heard of it, or if it costs nothing.
  chargesOf(jobId: string): Promise<readonly ChargeView[] | null>;
  // Tells the daemon what it has not heard yet. Returns how much is left.
  tellDue(): Promise<number>;
  // Resolves when nothing is being evicted any more.
  evicted(): Promise<void>;
  // What tools have answered to the questions that run now, as it is counted.
  heldBytes(): number;
};

export const DATA_PATH = "/api/v1/query/data";
export const IMAGES_PATH = "/api/v1/query/images";

export function openQuery(options: OpenQueryOptions): OpenedQuery {
  const { store, clock, catalogue, settlement, mcp, judge, sign, providers, publicUrl, holder, log } = options;
  const nowMs = () => clock.nowMs();
  const reporter = createTurnReporter({ store, clock, settlement, log });
  const agents = createAgents(options.models);
  const interpreters = options.interpreter && createInterpreters({ backend: options.interpreter, log });

  const quota = createQuota({
    maxBytes: options.maxKeptBytes,
    evict: (account, maxBytes) => store.alone((sql) => evictKept(sql, account, maxBytes)),
    log,
  });
  const memory = createMemory(options.memory);
  const jobs = createJobs({
    store,
    clock,
    settlement,
    reporter,
    holder,
    memory,
    allowance: createAllowance({ store, clock, maxUnpaid: options.maxUnpaid, observe: options.observeUnpaid }),
    quota,
    keysKeptMs: options.keysKeptMs,
    log,
    observe: options.observeTurn,
    paid: options.observer.paid,
    modelCostOf: agents.maxCostOf,
    select: (account, request, earlierTools) =>
      selectTools(
        { store, catalogue },
        account,
        request,
        earlierTools,
        agents.maxCostOf(request.agentModelId),
        nowMs(),
      ),
    run: (task) =>
      runTurn(
        {
          agentOf: agents.agentOf,
          mcp,
          judge,
          sign,
          providers,
          nowMs,
          observer: options.observer,
          interpreters,
          imageUrlOf: (hash) => `${publicUrl}${IMAGES_PATH}/${hash}.png`,
          dataUrlOf: (datasetId) => `${publicUrl}${DATA_PATH}/${datasetId}`,
          linkedWallets: (account: Address) => walletsOf(store.read, account),
          keepBroken: ({ callId, listing, method, args, text, problem }) => {
            const request = canonicalJson({ method: method.name, arguments: args });
            const hashes = {
              requestHash: hashText(request),
              responseHash: hashText(text),
              schemaHash: schemaHashOf(method),
            };
            return store.shared((sql) =>
              keepEvidence(
                sql,
                {
                  callId,
                  toolId: listing.toolId,
                  method: method.name,
                  account: task.account,
                  hashes,
                  problem,
                  request,
                  response: text,
                  outputSchema: canonicalJson(method.outputSchema ?? null),
                  signedAnswer: undefined,
                },
                nowMs(),
              ),
            );
          },
        },
        task,
      ),
  });
  return {
    jobs,
    findData: (id) => findData(store.read, id, nowMs()),
    findImage: (hash) => findImage(store.read, hash, nowMs()),
    chargesOf: settlement.findTurn,
    tellDue: reporter.tellDue,
    evicted: quota.idle,
    heldBytes: memory.bytes,
  };
}
