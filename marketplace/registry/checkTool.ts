import { sentenceOf } from "../../settlement/domain/text/sentence.ts";
import type { Connection, RequestOptions } from "../mcp/createMcpClient.ts";
import { type CallOutcome, describeFailure } from "../mcp/outcome.ts";
import type { PreparedJudge } from "../schema/createJudge.ts";
import { hashJson } from "../schema/hashJson.ts";
import { TOOL_ID_HEADER } from "../toolkit/middleware/toolIdHeader.ts";
import { cleanMethods } from "./cleanMethods.ts";
import { isPaid, type Method, type Registration, type Standing } from "./listing.ts";
import { sampleArguments } from "./sampleArguments.ts";

export const CHECKS = ["stake", "connect", "identity", "schemas", "calls", "tokens"] as const;

// One thing that was looked at. `say` tells the contributor what was found and, if it is not in order, what to do.
export type Check = { check: (typeof CHECKS)[number]; ok: boolean; say: string };

export type CheckedTool = {
  checks: Check[];
  methods: Method[];
  warnings: string[];
  // As which tools the server says that it is sold. Null: it does not say.
  toolIds: readonly string[] | null;
};

export type CheckOptions = {
  connection: Connection;
  judge: PreparedJudge;
  // Signs a request that is a test, and one that would be good at another server.
  token: () => Promise<string>;
  foreignToken: () => Promise<string>;
  signal: AbortSignal;
  // Whether methods are called. A refresh does not.
  call: boolean;
  // The server does not say whose it is. Throws if somebody else offers it; nobody's methods are called before that.
  unnamed: () => Promise<void>;
};

const CALL_TIMEOUT_MS = 30_000;
const CALLS_AT_A_TIME = 4;
const MAX_NAMED = 5;

// What must be in order before a tool is listed, each with a sentence.
export async function checkTool(
  registration: Registration,
  standing: Standing,
  options: CheckOptions,
): Promise<CheckedTool> {
  const { connection, token, signal } = options;
  const stake = checkStake(standing);
  const listed = await connection.listTools({ token, signal });
  if (listed.kind !== "listed") {
    const say =
      `the server at ${registration.endpoint} did not list its methods: ${describeFailure(listed)} ` +
      "(start it, and register the address at which others reach it)";
    return { checks: [stake, bad("connect", say)], methods: [], warnings: [], toolIds: null };
  }
  const { toolIds } = listed;
  const identity = checkIdentity(registration, toolIds);
  if (!identity.ok) return { checks: [stake, identity], methods: [], warnings: [], toolIds };
  if (toolIds === null) await options.unnamed();
  const { methods, warnings } = cleanMethods(listed.methods, registration);
  if (toolIds === null) warnings.push(UNNAMED);
  if (methods.length === 0) {
    const say = `the server at ${registration.endpoint} lists no method that can be offered; tools/list must name at least one`;
    return { checks: [stake, bad("connect", say)], methods, warnings, toolIds };
  }
  const connect = good(
    "connect",
    `the server lists ${methods.length === 1 ? "one method" : `${methods.length} methods`}`,
  );
  const schemas = checkSchemas(methods, standing, warnings);
  const checks = [stake, connect, identity, schemas];
  // Whoever has nothing to lose has nothing compiled, nor anybody called.
  if (!stake.ok || !schemas.ok) return { checks, methods, warnings, toolIds };
  await options.judge.prepare(methods.flatMap(schemasOf));
  if (options.call)
    checks.push(await checkCalls(methods, options), await checkTokens(methods, standing, warnings, options));
  return { checks, methods, warnings, toolIds };
}

const schemasOf = ({ inputSchema, outputSchema }: Method) =>
  [inputSchema, ...(outputSchema === undefined ? [] : [outputSchema])].map(
    (schema) => [schema, hashJson(schema)] as const,
  );

const good = (check: Check["check"], say: string): Check => ({ check, ok: true, say: sentenceOf(say) });
const bad = (check: Check["check"], say: string): Check => ({ check, ok: false, say: sentenceOf(say) });

function checkStake({ stake, requiredStake }: Standing): Check {
  return stake >= requiredStake
    ? good("stake", "the stake is what the listing price requires")
    : bad("stake", "the stake is below what the listing price requires; add to it with npx hardhat stake");
}

const UNNAMED =
  "the server does not say as which tool it is sold, and whoever lists its address first is paid for it; name your tool's id as " +
  `toolId in its protection, send it in the header ${TOOL_ID_HEADER}, or write it into the server's instructions on a line that begins so`;

// Whose server it is, the server knows best.
function checkIdentity({ toolId, endpoint }: Registration, toolIds: readonly string[] | null): Check {
  if (toolIds === null) return good("identity", "the server does not say as which tool it is sold");
  return toolIds.includes(toolId)
    ? good("identity", "the server says that it is this tool")
    : bad(
        "identity",
        `the server at ${endpoint} says that it is another tool; if it is yours, put ${toolId} into its toolId or its header ${TOOL_ID_HEADER}`,
      );
}

function checkSchemas(methods: readonly Method[], { price }: Standing, warnings: string[]): Check {
  const missing = methods.filter(({ outputSchema }) => outputSchema === undefined);
  const notObjects = methods.filter(({ outputSchema }) => outputSchema !== undefined && outputSchema.type !== "object");
  if (notObjects.length > 0) {
    return bad("schemas", `the outputSchema of ${named(notObjects)} must have "type": "object" at its root`);
  }
  if (missing.length > 0 && isPaid(price, methods)) {
    return bad("schemas", `${named(missing)} must declare an outputSchema, because buyers pay for what it promises`);
  }
  for (const { name } of missing) warnings.push(`method "${name}" declares no outputSchema; a paid tool needs one`);
  return good("schemas", "every promise that is made is an object");
}

// Methods that write, or that need a buyer's data, cannot be tried without doing harm or without a buyer.
const canBeTried = ({ _meta: { surface, queryEligible, contextRequirements } }: Method) =>
  contextRequirements === undefined && (surface !== "execute" || queryEligible);

async function checkCalls(methods: readonly Method[], options: CheckOptions): Promise<Check> {
  const tried = methods.filter(canBeTried);
  const waiting = [...tried];
  const problems: string[] = [];
  async function work(): Promise<void> {
    for (let method = waiting.shift(); method !== undefined; method = waiting.shift()) {
      const problem = await tryMethod(method, options);
      if (problem !== null) problems.push(problem);
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_A_TIME }, work));
  if (problems.length > 0) return bad("calls", problems.slice(0, MAX_NAMED).join("; "));
  return good("calls", `${tried.length} of ${methods.length} methods were called, and answered what they promise`);
}

async function tryMethod(method: Method, { connection, token, signal, judge }: CheckOptions): Promise<string | null> {
  const { name, inputSchema, outputSchema } = method;
  const args = sampleArguments(inputSchema);
  const outcome = await callOf(connection, method, args, { token, signal });
  // It asks for a person, as its buyers will be told.
  if (outcome.kind === "handshakeRequired") return null;
  if (outcome.kind !== "answered") {
    return (
      `${name} called with ${JSON.stringify(args).slice(0, 200)} failed: ${describeFailure(outcome)} ` +
      `(give its required arguments a default or examples in inputSchema that work)`
    );
  }
  if (outputSchema === undefined) return null;
  const value = outcome.raw.structuredContent ?? outcome.result;
  const verdict = judge(outputSchema, hashJson(outputSchema), value);
  return verdict.kind === "invalid"
    ? `${name} answered something else than its outputSchema promises: ${verdict.problem}`
    : null;
}

const UNCHECKED_AUDIENCE =
  "the server takes tokens that were signed for other servers, so that whoever is sent one can have its answers for nothing; give " +
  "its protection its own address as audience";

// A paid tool that answers anybody gives away what others pay for, and one that does not look for whom a token is gives it to every
// other tool. The public SDKs leave that look to the developer, so that one is told and listed all the same.
async function checkTokens(
  methods: readonly Method[],
  { price }: Standing,
  warnings: string[],
  options: CheckOptions,
): Promise<Check> {
  const method = methods.find(canBeTried);
  if (!isPaid(price, methods)) return good("tokens", "a free tool may answer anybody");
  if (method === undefined) return good("tokens", "no method can be tried without a buyer");
  const { connection, signal, foreignToken } = options;
  const args = sampleArguments(method.inputSchema);
  if (!isRefusal(await callOf(connection, method, args, { signal }))) {
    const say = `${method.name} was called without a token and was not refused; put the middleware of the toolkit before it`;
    return bad("tokens", say);
  }
  const foreign = await callOf(connection, method, args, { token: foreignToken, signal });
  if (foreign.kind === "answered" || foreign.kind === "handshakeRequired") warnings.push(UNCHECKED_AUDIENCE);
  return good("tokens", "a call without the marketplace's token is refused");
}

const callOf = (connection: Connection, { name }: Method, args: Record<string, unknown>, request: RequestOptions) =>
  connection.callTool(name, args, { ...request, timeoutMs: CALL_TIMEOUT_MS });

function isRefusal(outcome: CallOutcome): boolean {
  if (outcome.kind === "infrastructure") return outcome.reason === "unauthorized";
  return outcome.kind === "toolFailed" && /unauthori[sz]ed|forbidden|token/i.test(outcome.message);
}

const named = (methods: readonly Method[]) =>
  methods
    .slice(0, MAX_NAMED)
    .map(({ name }) => name)
    .join(", ") + (methods.length > MAX_NAMED ? ` and ${methods.length - MAX_NAMED} more` : "");
