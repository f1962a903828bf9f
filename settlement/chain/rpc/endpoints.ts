import pRetry from "p-retry";
import type { Clock, Random } from "../../clock.ts";
import { SettlementError } from "../../domain/errors.ts";
import { causesOf } from "./answered.ts";
import { EndpointFailure, type FailureKind, JsonRpcError, postJsonRpc, revertDataOf } from "./jsonRpc.ts";
import type { EndpointStanding } from "./survey.ts";

// `name` is what logs and metrics say; the address itself may hold an API key and appears nowhere.
export type EndpointAddress = { name: string; url: string };

export type EndpointObservation = {
  endpoint: string;
  method: string;
  durationMs: number;
  outcome: "ok" | "rpc_error" | "chain_mismatch" | FailureKind;
};

export type EndpointsOptions = {
  // In order of preference.
  addresses: readonly EndpointAddress[];
  chainId: number;
  clock: Clock;
  random: Random;
  timeoutMs?: number;
  // How often a read goes through all endpoints again after none has answered.
  readRetries?: number;
  retryDelayMs?: number;
  // How long an endpoint is left alone after a failure: this long after the first, twice as long after each one that follows.
  minBackoffMs?: number;
  maxBackoffMs?: number;
  observe?: (observation: EndpointObservation) => void;
  // What is thought of each of several endpoints, each time that they are compared.
  compared?: (standings: readonly EndpointStanding[]) => void;
};

export type Answer =
  | { kind: "result"; endpoint: string; result: unknown }
  | { kind: "error"; endpoint: string; error: JsonRpcError }
  | { kind: "failure"; endpoint: string; reason: string; mayHaveArrived: boolean };

export type Endpoints = {
  // Asks one endpoint after the other until one answers. Throws a JsonRpcError if the answer is no.
  read(method: string, params: readonly unknown[]): Promise<unknown>;
  // Asks every healthy endpoint at once. None of the promises rejects.
  askAll(method: string, params: readonly unknown[]): Promise<Answer>[];
  // Several questions to one endpoint, so that what they say belongs together. If it fails, all of them go to the next.
  fromOne<T>(ask: (read: Endpoints["read"]) => Promise<T>): Promise<T>;
  // For whoever compares them: their names in order of preference, a question to one of them that must be answered in this
  // time, and the order in which they are asked from then on. The promise does not reject.
  names: readonly string[];
  askOne(name: string, method: string, params: readonly unknown[], timeoutMs: number): Promise<Answer>;
  rank(order: readonly string[]): void;
};

type Endpoint = EndpointAddress & {
  // Whether its chain id has been seen since it last failed.
  checked: boolean;
  checking: Promise<void> | undefined;
  refusal: SettlementError | undefined;
  failures: number;
  failedAtMs: number;
  readyAtMs: number;
  // Lower is asked first; those of the same rank in order of preference.
  rank: number;
};

// A replica that lags behind answers these with null. Somebody else may know more, so null is an answer only if all say it.
const NULL_MAY_MEAN_LAG: ReadonlySet<string> = new Set(["eth_getTransactionReceipt", "eth_getBlockByNumber"]);

const MAX_DOUBLINGS = 16;
const QUANTITY = /^0x[0-9a-f]+$/i;

// Several RPC endpoints as one. viem's `fallback` does not fit here: it cannot tell bytes that never left from bytes that may
// have arrived, takes one replica's null for the answer, uses a node of another chain, and names addresses in its errors.
export function createEndpoints(options: EndpointsOptions): Endpoints {
  const { chainId, clock, random, observe } = options;
  const { timeoutMs = 10_000, readRetries = 2, retryDelayMs = 200 } = options;
  const { minBackoffMs = 250, maxBackoffMs = 30_000 } = options;
  const endpoints = options.addresses.map(endpointOf);
  if (endpoints.length === 0) {
    throw new SettlementError("invalid_config", "no RPC endpoint is given; the service needs at least one");
  }
  let lastId = 0;

  function report(endpoint: Endpoint, method: string, startedAtMs: number, outcome: EndpointObservation["outcome"]) {
    // A clock that was set back meanwhile gives no sensible duration.
    const durationMs = Math.max(0, clock.nowMs() - startedAtMs);
    observe?.({ endpoint: endpoint.name, method, durationMs, outcome });
  }

  async function post(
    endpoint: Endpoint,
    method: string,
    params: readonly unknown[],
    patienceMs = timeoutMs,
  ): Promise<unknown> {
    const startedAtMs = clock.nowMs();
    const failuresBefore = endpoint.failures;
    lastId += 1;
    try {
      const result = await postJsonRpc({ url: endpoint.url, id: lastId, method, params, timeoutMs: patienceMs });
      // Knowing its chain does not make it healthy: many a broken node still does.
      if (method !== "eth_chainId") endpoint.failures = 0;
      report(endpoint, method, startedAtMs, "ok");
      return result;
    } catch (error) {
      const isFailure = error instanceof EndpointFailure;
      // What fails at the same time fails for the same cause, and counts once.
      if (isFailure && endpoint.failures === failuresBefore) backOff(endpoint, error.retryAfterMs);
      report(endpoint, method, startedAtMs, isFailure ? error.kind : "rpc_error");
      throw error;
    }
  }

  function backOff(endpoint: Endpoint, retryAfterMs: number): void {
    const doubledMs = minBackoffMs * 2 ** Math.min(endpoint.failures, MAX_DOUBLINGS);
    // Between half and all of it, so that several daemons do not come back in step.
    const delayMs = Math.max(doubledMs * (0.5 + random() / 2), retryAfterMs);
    endpoint.failures += 1;
    endpoint.failedAtMs = clock.nowMs();
    endpoint.readyAtMs = endpoint.failedAtMs + Math.min(delayMs, maxBackoffMs);
    // Whatever answers at this address next may be another node.
    endpoint.checked = false;
  }

  // A clock that was set back must not keep an endpoint away for longer than its delay.
  const isReady = (endpoint: Endpoint) => clock.nowMs() >= endpoint.readyAtMs || clock.nowMs() < endpoint.failedAtMs;

  async function checkChain(endpoint: Endpoint): Promise<void> {
    if (endpoint.refusal) throw endpoint.refusal;
    if (endpoint.checked) return;
    endpoint.checking ??= compareChainId(endpoint).finally(() => {
      endpoint.checking = undefined;
    });
    await endpoint.checking;
  }

  async function compareChainId(endpoint: Endpoint): Promise<void> {
    const startedAtMs = clock.nowMs();
    const served = await chainIdOf(endpoint);
    if (served !== chainId) {
      endpoint.refusal = new SettlementError(
        "chain_mismatch",
        `the endpoint ${endpoint.name} serves chain ${served}, not ${chainId}; it is not used`,
      );
      report(endpoint, "eth_chainId", startedAtMs, "chain_mismatch");
      throw endpoint.refusal;
    }
    endpoint.checked = true;
  }

  // Only a clear answer can be a wrong one; anything else may pass.
  async function chainIdOf(endpoint: Endpoint): Promise<number> {
    let answer: unknown;
    try {
      answer = await post(endpoint, "eth_chainId", []);
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error;
    }
    if (typeof answer === "string" && QUANTITY.test(answer)) return Number(answer);
    backOff(endpoint, 0);
    throw new EndpointFailure("invalid_answer", "does not say its chain id");
  }

  // All that are ready, best first; if none is, the one that will be first: a try is better than no answer.
  function candidates(): Endpoint[] {
    const usable = endpoints.filter((endpoint) => !endpoint.refusal).sort((a, b) => a.rank - b.rank);
    const ready = usable.filter(isReady);
    return ready.length > 0 ? ready : usable.toSorted((a, b) => a.readyAtMs - b.readyAtMs).slice(0, 1);
  }

  async function readOnce(method: string, params: readonly unknown[]): Promise<unknown> {
    const reasons: string[] = [];
    let no: JsonRpcError | undefined;
    let lastError: unknown = endpoints.find((endpoint) => endpoint.refusal)?.refusal;
    let sawNull = false;
    for (const endpoint of candidates()) {
      try {
        await checkChain(endpoint);
        const result = await post(endpoint, method, params);
        if (result !== null || !NULL_MAY_MEAN_LAG.has(method)) return result;
        sawNull = true;
      } catch (error) {
        // What the contract says is the same everywhere; any other no may be this node's alone.
        if (error instanceof JsonRpcError && revertDataOf(error) !== undefined) throw error;
        if (error instanceof JsonRpcError) no ??= error;
        else if (error instanceof EndpointFailure) reasons.push(`${endpoint.name} ${error.message}`);
        else if (error instanceof Error) reasons.push(error.message);
        lastError = error;
      }
    }
    if (sawNull) return null;
    if (no) throw no;
    if (lastError instanceof SettlementError && endpoints.every((endpoint) => endpoint.refusal)) throw lastError;
    throw new SettlementError("chain_unavailable", `no endpoint answered ${method}: ${reasons.join("; ")}`, {
      retryable: true,
      cause: lastError,
    });
  }

  // The next endpoint begins from the start: half of one's answers and half of another's would be about no chain.
  async function fromOneOnce<T>(ask: (read: Endpoints["read"]) => Promise<T>): Promise<T> {
    let lastError: unknown;
    for (const endpoint of candidates()) {
      try {
        await checkChain(endpoint);
        return await ask((method, params) => post(endpoint, method, params));
      } catch (error) {
        lastError = error;
      }
    }
    throw lastError;
  }

  async function askOne(
    endpoint: Endpoint,
    method: string,
    params: readonly unknown[],
    patienceMs = timeoutMs,
  ): Promise<Answer> {
    const { name } = endpoint;
    let sent = false;
    try {
      await checkChain(endpoint);
      sent = true;
      return { kind: "result", endpoint: name, result: await post(endpoint, method, params, patienceMs) };
    } catch (error) {
      if (error instanceof JsonRpcError) return { kind: "error", endpoint: name, error };
      const mayHaveArrived = sent && !(error instanceof EndpointFailure && !error.mayHaveArrived);
      return { kind: "failure", endpoint: name, reason: error instanceof Error ? error.message : "", mayHaveArrived };
    }
  }

  const again = <T>(ask: () => Promise<T>, shouldRetry: (error: unknown) => boolean) =>
    pRetry(ask, {
      retries: readRetries,
      minTimeout: retryDelayMs * (1 + random()),
      shouldRetry: ({ error }) => shouldRetry(error),
    });

  return {
    read: (method, params) =>
      again(
        () => readOnce(method, params),
        (error) => error instanceof SettlementError && error.retryable,
      ),
    askAll: (method, params) => candidates().map((endpoint) => askOne(endpoint, method, params)),
    fromOne: (ask) => again(() => fromOneOnce(ask), isFailure),
    names: endpoints.map(({ name }) => name),
    async askOne(name, method, params, patienceMs) {
      const endpoint = endpoints.find((candidate) => candidate.name === name);
      // One that is left alone after a failure is not asked by whoever compares, either.
      if (endpoint === undefined || endpoint.refusal || !isReady(endpoint)) {
        return { kind: "failure", endpoint: name, reason: "is not asked at present", mayHaveArrived: false };
      }
      return askOne(endpoint, method, params, patienceMs);
    },
    rank(order) {
      for (const endpoint of endpoints) {
        const place = order.indexOf(endpoint.name);
        // Whoever did not answer comes after those who did.
        endpoint.rank = place < 0 ? order.length : place;
      }
    },
  };
}

// What passes by itself: nobody answered, or what answered was no node.
const isFailure = (error: unknown) =>
  causesOf(error).some(
    (cause) => cause instanceof EndpointFailure || (cause instanceof SettlementError && cause.retryable),
  );

function endpointOf({ name, url }: EndpointAddress): Endpoint {
  const parsed = URL.parse(url);
  if (!parsed || !["http:", "https:"].includes(parsed.protocol)) {
    throw new SettlementError("invalid_config", `the endpoint ${name} has no http or https address`);
  }
  if (parsed.username || parsed.password) {
    throw new SettlementError(
      "invalid_config",
      `the address of the endpoint ${name} holds a user name or password; use an address with the key in its path`,
    );
  }
  return {
    name,
    url,
    checked: false,
    checking: undefined,
    refusal: undefined,
    failures: 0,
    failedAtMs: 0,
    readyAtMs: 0,
    rank: 0,
  };
}
