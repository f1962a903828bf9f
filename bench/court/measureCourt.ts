import { Wallet } from "ethers";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { canonicalJson, hashJson, signAnswer } from "../../marketplace/toolkit/index.ts";
import { mined } from "../../scripts/world/mined.ts";
import { type LocalWorld, startWorld } from "../../scripts/world/startWorld.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { generateCases } from "./cases/generateCases.ts";
import { compareWithAjv } from "./compareWithAjv.ts";
import { bytesOf } from "./createJudgeMany.ts";
import { measureAnswers } from "./measureAnswers.ts";
import { openJudge } from "./openJudge.ts";
import { answerOf, OUTPUT_SCHEMA } from "./typicalAnswer.ts";

const KB = 1024;
const SIZES_KB = [1, 4, 16, 48];
const TYPICAL_KB = 2;
const CASES = 20_000;
const SEED = 20_260_916;

// The most gas of one transaction since EIP-7825.
const MAX_TRANSACTION_GAS = 2n ** 24n;

// The benchmark "court". Gas is exact, and the cases are the same in every run.
export async function measureCourt() {
  console.error("Convicting …");
  const world = await startWorld({ tools: 1, payers: 1 });
  const gas = await measureGas(world).finally(() => world.stop());
  console.error(`Deciding ${CASES} cases on chain and by Ajv …`);
  const judge = await openJudge();
  const { counts, differences } = await compareWithAjv(judge, generateCases(CASES, SEED)).finally(() => judge.close());
  for (const difference of differences) console.error(difference);
  return { ...gas, seed: SEED, ...counts };
}

// Answers first: convictions take the tool's stake.
async function measureGas(world: LocalWorld) {
  const answers = await measureAnswers(world);
  return { ...(await measureConvictions(world)), ...answers };
}

async function measureConvictions(world: LocalWorld) {
  const [tool] = world.tools;
  if (tool === undefined) throw new RangeError("the world has no tool");
  const court = world.schemaCourt;
  const address = (await court.getAddress()) as Address;
  const account = privateKeyToAccount(Wallet.createRandom().privateKey as Hex);
  const owned = court.connect(tool.developer);
  await mined(owned.registerKey(tool.toolId, account.address));
  await mined(owned.pinSchema(tool.toolId, "search", hashJson(OUTPUT_SCHEMA)));

  // A conviction of an answer whose very last value is wrong, so that all of it is read and judged.
  async function convictionOf(bytes: number) {
    const content = answerOf(bytes);
    const given = { method: "search", args: {}, chargeId: hashJson(["charge", bytes]), content, schema: OUTPUT_SCHEMA };
    const block = await world.provider.getBlock("latest");
    const { signature, ...signed } = await signAnswer(given, {
      toolId: uuidFromToolId(tool?.toolId ?? ""),
      account,
      court: { chainId: world.chainId, address },
      nowMs: () => (block?.timestamp ?? 0) * 1_000,
    });
    const json = canonicalJson(content);
    const answer = { ...signed, toolId: tool?.toolId ?? "" };
    return { json, parts: [answer, bytesOf(canonicalJson(OUTPUT_SCHEMA)), bytesOf(json), signature] as const };
  }

  const reporter = court.connect(world.parties.treasury);
  const gasOf = async (bytes: number) => {
    const { json, parts } = await convictionOf(bytes);
    return { bytes: json.length, gas: await reporter.convict.estimateGas(...parts) };
  };
  const gasPerByte = [];
  for (const answerKb of SIZES_KB) {
    const { bytes, gas } = await gasOf(answerKb * KB);
    gasPerByte.push({ answerKb, bytes, gas: Number(gas), gasPerByte: Math.round(Number(gas) / bytes) });
  }
  const maxAnswerBytes = await largest(async (bytes) => {
    const measured = await gasOf(bytes);
    return measured.gas <= MAX_TRANSACTION_GAS ? measured.bytes : undefined;
  });
  const { parts } = await convictionOf(TYPICAL_KB * KB);
  const { gasUsed } = await mined(reporter.convict(...parts));
  return {
    schemaBytes: canonicalJson(OUTPUT_SCHEMA).length,
    gasPerConviction: Number(gasUsed),
    maxAnswerBytes,
    gasPerByte,
  };
}

// The largest size that fits, to a kilobyte.
async function largest(fits: (bytes: number) => Promise<number | undefined>): Promise<number> {
  let [low, high, found] = [KB, 64 * KB, 0];
  while (high - low > KB) {
    const middle = Math.floor((low + high) / 2);
    const bytes = await fits(middle);
    if (bytes === undefined) high = middle;
    else [low, found] = [middle, bytes];
  }
  return found;
}
