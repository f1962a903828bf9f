import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Turn } from "../../../marketplace/query/models/testing/startModel.ts";
import type { Reply } from "../../../scripts/client/createClient.ts";
import { until } from "../../../scripts/waiting/until.ts";
import { GAS, OUTPUT, structured, type ToolServer } from "../../marketplace/startTool.ts";
import { inShop, promised, type Shop } from "../stage/shop.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

type Call = NonNullable<ToolServer["tool"]["call"]>;

const SLOW_MS = 55_000;
const HUGE_CHARACTERS = 5_000_000;
const TOO_HUGE_CHARACTERS = 17_000_000;

const isDelivered = ({ status, body }: Reply) => status === 200 && body.warnings === undefined;

const refusedBy = ({ status, body }: Reply) => {
  assert.deepEqual({ status, code: body.code }, { status: 422, code: "execution_failed" });
  return `${body.error}`;
};

// A call that goes well, one that its tool spoils, and one that goes well again. The spoilt one is asked for a second time
// under its key, and must not be made a second time.
async function spoil(shop: Shop, call: Call, check: (reply: Reply) => void): Promise<void> {
  const { tool } = shop;
  tool.tool.call = promised;
  assert.ok(isDelivered(await shop.buy()), "it works before");
  tool.tool.call = call;
  const key = randomUUID();
  check(await shop.buy(key));
  const made = tool.state.calls;
  check(await shop.buy(key));
  assert.equal(tool.state.calls, made, "the same key makes no second call");
  tool.tool.call = promised;
  assert.ok(isDelivered(await shop.buy()), "it works again");
  await shop.nothingIsHeld();
}

const refusal = (reply: Reply) => void refusedBy(reply);

const CALL: Turn = { call: [{ name: `t1_${GAS.name}`, arguments: "{}" }] };
const LOOP: Turn = {
  call: [
    {
      name: "code_interpreter",
      arguments: JSON.stringify({
        code: "while True: pass",
        postProcessingContract: {
          operation: "wait",
          reason: "permanently",
          inputAliases: [`${GAS.name}_1`],
          expectedArtifacts: [],
        },
      }),
    },
  ],
};
// As many of one account as are worked on at once.
const AT_ONCE = 32;

// Kills the marketplace in every stage of a question. Gives those that were answered.
async function killQuestions(shop: Shop): Promise<string[]> {
  const { tool, model } = shop;
  const hang: Call = () => undefined;
  const isAsked = async () => model.state.asked.length > 0;
  const stages: [string, { plan: Turn[]; call?: Call; isThere: () => Promise<unknown> }][] = [
    ["it is planned", { plan: [{ never: true }], isThere: () => until("the model to be asked", isAsked) }],
    [
      "its tool works",
      { plan: [CALL], call: hang, isThere: () => until("the tool to be called", () => tool.state.calls === 1) },
    ],
    ["Python runs", { plan: [CALL, LOOP], isThere: () => shop.printed(/event=python_call_start/) }],
    [
      "it is written",
      {
        plan: [CALL, { begin: "It is" }],
        isThere: () => until("the last words to be asked for", () => model.state.asked.length === 2),
      },
    ],
  ];
  for (const [stage, { plan, call = promised, isThere }] of stages) {
    tool.state.calls = 0;
    tool.tool.call = call;
    model.state.asked.length = 0;
    shop.plan(...plan);
    const key = randomUUID();
    const jobId = await shop.ask(key);
    await isThere();
    await shop.killMarketplace();
    tool.tool.call = promised;
    shop.plan(CALL);
    const asked = model.state.asked.length;
    const called = tool.state.calls;
    await shop.startMarketplace();
    assert.equal(await shop.ended(jobId), "failed", `killed while ${stage}`);
    assert.match((await shop.job(jobId)).error ?? "", /interrupted/);
    assert.equal(await shop.ask(key), jobId, "its key is its own");
    assert.deepEqual([model.state.asked.length, tool.state.calls], [asked, called], "nothing is done again");
  }

  shop.plan({ never: true });
  model.state.asked.length = 0;
  const begun = await Promise.all(Array.from({ length: AT_ONCE }, () => shop.ask()));
  await until("all of them to be begun", () => model.state.asked.length === AT_ONCE);
  const waiting = await shop.ask();
  assert.equal((await shop.job(waiting)).status, "queued");
  await shop.killMarketplace();
  shop.plan(CALL);
  await shop.startMarketplace();
  assert.equal(await shop.ended(waiting), "completed");
  for (const jobId of begun) assert.equal(await shop.ended(jobId), "failed");

  const answered = [waiting];
  for (const how of [undefined, "afterwards"] as const) {
    tool.tool.call = () => {
      shop.shutDoor(how);
      return promised();
    };
    const jobId = await shop.ask();
    assert.equal(await shop.ended(jobId), "completed");
    if (how === "afterwards") {
      await until("the daemon to have heard", async () => {
        return (await shop.stage.daemon.ask("GET", `/v1/turns/${jobId}`)).status === 200;
      });
    }
    await shop.killMarketplace();
    shop.openDoor();
    tool.tool.call = promised;
    await shop.startMarketplace();
    assert.equal((await shop.job(jobId)).status, "completed");
    answered.push(jobId);
  }
  return answered;
}

const cases: FaultCase[] = [
  {
    number: 52,
    fault: "A tool hangs",
    injected: "it takes a call and never answers, and answers another after 55 s, while others are served",
    claim: "the call ends after a minute and costs nothing, the slow one is delivered, and nobody else waits for them",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const { tool } = shop;
        const hang: Call = () => undefined;
        tool.tool.call = hang;
        const hanging = shop.buy();
        await until("the call", () => tool.state.calls === 1);
        // As close to the minute as a busy machine can be trusted to keep.
        tool.tool.call = async () => {
          await pause(SLOW_MS);
          return promised();
        };
        const slow = shop.buy();
        await until("the slow call", () => tool.state.calls === 2);
        tool.tool.call = promised;
        assert.ok(isDelivered(await shop.buy()), "others are served meanwhile");
        assert.ok(isDelivered(await slow), "a call may take almost a minute");
        assert.match(refusedBy(await hanging), /60 s|time/);
        await shop.nothingIsHeld();
        return {
          happened: "the hanging call: `execution_failed` after 60 s, not charged; the slow one delivered and charged",
          balances: await shop.settled(2),
        };
      }),
  },
  {
    number: 53,
    fault: "A tool lies about its length",
    injected: "it promises 1,000 bytes, sends one and hangs up",
    claim: "the call fails, costs nothing and is never made again under its key",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const lie: Call = ({ response }) => {
          response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 }).write("{");
          setImmediate(() => response.destroy());
          return undefined;
        };
        await spoil(shop, lie, refusal);
        return { happened: "`execution_failed`, once under its key, not charged", balances: await shop.settled(2) };
      }),
  },
  {
    number: 54,
    fault: "A tool answers megabytes",
    injected: "an answer of 5 MB, then one of 17 MB",
    claim: "what is within the bound is delivered and charged once; what is above it is given up and costs nothing",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const answerOf = (length: number) => () => structured({ value: 1, padding: "x".repeat(length) });
        shop.tool.tool.call = answerOf(HUGE_CHARACTERS);
        const key = randomUUID();
        const large = await shop.buy(key);
        assert.ok(isDelivered(large) && large.text.length > HUGE_CHARACTERS);
        assert.equal((await shop.buy(key)).text, large.text, "the same answer again under its key");
        await spoil(shop, answerOf(TOO_HUGE_CHARACTERS), refusal);
        return {
          happened: "5 MB delivered, and the same again under its key; 17 MB `execution_failed`, not charged",
          balances: await shop.settled(3),
        };
      }),
  },
  {
    number: 55,
    fault: "A tool drops the connection",
    injected: "once before it has answered, once right after its whole answer",
    claim: "the first costs nothing; the second was delivered and is charged once",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const { tool } = shop;
        tool.tool.call = ({ message, response }) => {
          const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: promised() });
          const length = Buffer.byteLength(body);
          response.writeHead(200, { "content-type": "application/json", "content-length": length });
          response.end(body, () => response.socket?.destroy());
          return undefined;
        };
        assert.ok(isDelivered(await shop.buy()), "an answer that was whole is an answer");
        const hangUp: Call = ({ response }) => void response.destroy();
        await spoil(shop, hangUp, refusal);
        return {
          happened: "before the answer: `execution_failed`, not charged; after it: delivered and charged",
          balances: await shop.settled(3),
        };
      }),
  },
  {
    number: 56,
    fault: "A tool returns what its schema forbids",
    injected: "a text where it has promised a number",
    claim: "the buyer gets it with a warning and pays nothing",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const breaks: Call = () => structured({ value: "twelve" });
        await spoil(shop, breaks, ({ status, body }) => {
          assert.equal(status, 200);
          assert.equal((body.warnings as string[]).length, 1);
        });
        return {
          happened: "delivered with a warning, twice under its key, not charged",
          balances: await shop.settled(2),
        };
      }),
  },
  {
    number: 57,
    fault: "A tool redirects to an address of ours",
    injected: "it answers the call with a redirect to the settlement daemon",
    claim: "nobody follows it, the daemon hears nothing, and the call costs nothing",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const target = `${stage.daemon.events("started").at(-1)?.url}/v1/audit`;
        const redirect: Call = ({ response }) => void response.writeHead(307, { location: target }).end();
        await spoil(shop, redirect, refusal);
        assert.equal((await stage.daemon.ask("GET", "/v1/audit")).body.audit ?? null, null, "no audit was started");
        return { happened: "`execution_failed`, not followed, not charged", balances: await shop.settled(2) };
      }),
  },
  {
    number: 58,
    fault: "A tool changes its methods while a call runs",
    injected: "between call and answer its owner lists it at five times the price, with another schema",
    claim: "the call is charged once, at the price that it was bought for, and judged by the promise of then",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const { tool } = shop;
        const answered = Promise.withResolvers<void>();
        tool.tool.call = async () => {
          await answered.promise;
          return promised();
        };
        const running = shop.buy();
        await until("the call", () => tool.state.calls === 1);
        tool.tool.call = () => structured({ value: 1, unit: "wei" });
        tool.state.methods = [
          {
            ...GAS,
            outputSchema: { ...OUTPUT, required: ["value", "unit"] },
            _meta: { pricing: { executeUsd: "0.005" } },
          },
        ];
        await shop.list("Prices, and their unit");
        answered.resolve();
        const reply = await running;
        assert.ok(isDelivered(reply), reply.text);
        assert.equal((reply.body.method as { executePriceUsd: string }).executePriceUsd, "0.001");
        return { happened: "delivered, and charged once at the old price", balances: await shop.settled(1) };
      }),
  },
  {
    number: 59,
    fault: "The marketplace is killed in a call and in every stage of a question",
    injected:
      "`kill -9` while a tool works for a call; then of a question while it waits, is planned, calls its tool, runs Python and is " +
      "written, when it is answered and not recorded, and when it is recorded and the marketplace has not heard so",
    claim:
      "what was begun is never done again, failed and costs nothing; what was not begun is done; what was answered is charged once",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const { tool } = shop;
        tool.tool.call = () => undefined;
        const key = randomUUID();
        const lost = shop.buy(key).catch(() => null);
        await until("the call", () => tool.state.calls === 1);
        await shop.killMarketplace();
        assert.equal(await lost, null);
        tool.tool.call = promised;
        await shop.startMarketplace();
        refusal(await shop.buy(key));
        refusal(await shop.buy(key));
        assert.equal(tool.state.calls, 1);
        assert.ok(isDelivered(await shop.buy()));
        await shop.nothingIsHeld();
        const answered = await killQuestions(shop);
        return {
          happened:
            "`execution_failed` under its key, called once; four questions failed and were not begun again; one that had waited was answered; " +
            "two that were answered stayed so, and all three were charged once",
          balances: await shop.settled(1, answered),
        };
      }),
  },
  {
    number: 60,
    fault: "The daemon is away while a tool works",
    injected:
      "`kill -9` of the daemon between hold and answer; a new one as soon as a call was refused, which is sooner than a minute",
    claim: "what was delivered is charged once when the daemon is back, and no call begins meanwhile",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const { tool } = shop;
        const answered = Promise.withResolvers<void>();
        tool.tool.call = async () => {
          await answered.promise;
          return promised();
        };
        const running = shop.buy();
        await until("the call", () => tool.state.calls === 1);
        await stage.daemon.kill();
        answered.resolve();
        assert.ok(isDelivered(await running), "the buyer has the answer");
        tool.tool.call = promised;
        const key = randomUUID();
        assert.equal((await shop.buy(key)).status, 503);
        assert.equal(tool.state.calls, 1, "no call begins that could not be paid");
        await shop.startDaemon();
        await until("the same key to go through", async () => isDelivered(await shop.buy(key)));
        return { happened: "delivered, reported later, charged once; 503 meanwhile", balances: await shop.settled(2) };
      }),
  },
  {
    number: 61,
    fault: "One key arrives many times at once",
    injected: "twenty requests under one Idempotency-Key, while the tool works",
    claim: "the tool is called once, everybody gets its answer, and it is charged once",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const { tool } = shop;
        const answered = Promise.withResolvers<void>();
        tool.tool.call = async () => {
          await answered.promise;
          return promised();
        };
        const key = randomUUID();
        const running = Array.from({ length: 20 }, () => shop.buy(key));
        await until("the call", () => tool.state.calls === 1);
        answered.resolve();
        const replies = await Promise.all(running);
        assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
        assert.ok(replies.every(isDelivered));
        assert.equal(tool.state.calls, 1);
        return { happened: "one call, twenty same answers, one charge", balances: await shop.settled(1) };
      }),
  },
];

// Found later than those above, and so behind all others on the page.
const laterCases: FaultCase[] = [
  {
    number: 73,
    fault: "The marketplace is killed between a call's answer and its charge",
    injected:
      "`kill -9` when the answer is kept and the daemon was not told, and when the daemon was told and nobody heard so; under a key, and " +
      "without one",
    claim: "what was delivered is charged once, the same key gets the same answer, and the tool is called once",
    run: (stage) =>
      inShop(stage, async (shop) => {
        const { tool } = shop;
        for (const how of [undefined, "afterwards"] as const) {
          tool.state.calls = 0;
          const answered = Promise.withResolvers<void>();
          tool.tool.call = async () => {
            await answered.promise;
            return promised();
          };
          const key = randomUUID();
          const buying = Promise.all([shop.buy(key), shop.buy(null)]);
          await until("both calls", () => tool.state.calls === 2);
          shop.shutDoor(how);
          answered.resolve();
          const [named, unnamed] = await buying;
          assert.ok(isDelivered(named) && isDelivered(unnamed));
          await shop.killMarketplace();
          shop.openDoor();
          await shop.startMarketplace();
          assert.equal((await shop.buy(key)).text, named.text, "the same answer again");
          assert.equal(tool.state.calls, 2);
          await shop.nothingIsHeld();
        }
        return {
          happened: "four calls delivered and charged once each; those with a key answered again",
          balances: await shop.settled(4),
        };
      }),
  },
];

export const marketplaceFaults: FaultGroup = { name: "Tools and the marketplace", cases };
export const laterMarketplaceFaults: FaultGroup = { name: "A marketplace that is killed", cases: laterCases };
