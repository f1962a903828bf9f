import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, isHash } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashJson, type SignedAnswer, signAnswer } from "../../marketplace/toolkit/index.ts";
import { createKeptReceipts } from "../../scripts/receipts/keptReceipts.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import type { SchemaCourt } from "../../typechain-types/index.ts";
import { addressOf, fail, passTime, startDeployedChain, succeed } from "./chain.ts";
import { openService } from "./testService.ts";

const SCHEMA = { type: "object", required: ["price"], properties: { price: { type: "number", minimum: 0 } } };

// A tool that signs what it answers, from its promise to its conviction.
describe("a promise and its breach", () => {
  let deployed: Awaited<ReturnType<typeof startDeployedChain>>;
  let court: SchemaCourt;
  let address: Address;
  let tool: string;
  let folder: string;

  const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
  const as = (...command: string[]) => succeed(deployed.chain, "developer", ...command, "--court", address);
  const refused = (...command: string[]) => fail(deployed.chain, "payer", ...command, "--court", address);
  const file = (name: string, value: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(value));
    return join(folder, name);
  };

  async function signed(content: unknown, charge: string, schema: unknown = SCHEMA): Promise<SignedAnswer> {
    const block = await deployed.chain.provider.getBlock("latest");
    return signAnswer(
      { method: "quote", args: {}, chargeId: isHash(charge) ? charge : hashJson(charge), content, schema },
      { toolId: tool, account, court: { chainId: 8453, address }, nowMs: () => (block?.timestamp ?? 0) * 1_000 },
    );
  }

  beforeAll(async () => {
    deployed = await startDeployedChain();
    folder = mkdtempSync(join(tmpdir(), "court-"));
    court = deployed.schemaCourt;
    address = (await court.getAddress()) as Address;
    ({ tool } = await succeed(deployed.chain, "developer", "list-tool", "--name", "quotes", "--price", "0.10"));
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await deployed.chain.stop();
  });

  it("the owner pins what a method promises and registers the key that signs", async () => {
    const pinned = await as("pin-schema", tool, "--method", "quote", "--schema", file("schema.json", SCHEMA));
    expect(pinned).toMatchObject({ tool, method: "quote", schemaHash: hashJson(SCHEMA) });
    expect(await as("register-key", tool, "--key", account.address)).toMatchObject({ key: account.address });
  });

  it("nobody else does", async () => {
    expect(await refused("register-key", tool, "--key", addressOf("payer"))).toContain("the tool belongs to");
    expect(await refused("pin-schema", tool, "--method", "quote", "--schema", file("any.json", true))).toContain(
      "the tool belongs to",
    );
  });

  it("an answer that keeps its promise convicts nobody, and nothing is sent", async () => {
    const content = { price: 1 };
    const evidence = file("kept.json", { schema: SCHEMA, content, answer: await signed(content, "kept") });
    expect(await refused("convict", evidence)).toBe(
      "The answer matches its schema: there is nothing to convict. Nothing was sent.",
    );
  });

  it("the court itself is asked, and convicts of what a calculation in doubles would let pass", async () => {
    const convict = async (name: string, schema: object) => {
      const content = { price: 1.0000000001 };
      const answer = await signed(content, name, schema);
      return refused("convict", file(`${name}.json`, { schema, content, answer }));
    };
    // It comes as far as the schema, which nobody has pinned.
    expect(await convict("decimals", { properties: { price: { multipleOf: 1 } } })).toContain(
      "had not promised the schema",
    );
    expect(await convict("undecided", { properties: { price: { $ref: "https://example.com/price" } } })).toBe(
      "The court cannot tell whether the answer matches its schema: it convicts nobody of that. Nothing was sent.",
    );
  });

  it("an answer that breaks it costs the tool a penalty, half of which is the reporter's", async () => {
    const { chain, staking } = deployed;
    const content = { price: -1 };
    const evidence = file("broken.json", { schema: SCHEMA, content, answer: await signed(content, "broken") });
    const convicted = await succeed(chain, "payer", "convict", evidence, "--court", address);
    expect(convicted).toMatchObject({ tool, chargeId: hashJson("broken"), bountyUsd: "0.50" });
    expect(await staking.creditOf(addressOf("payer"))).toBe(500_000n);
    expect(await staking.creditOf(addressOf("insurance"))).toBe(500_000n);
    expect(await refused("convict", evidence)).toContain("was convicted for this charge before");
  });

  it("whoever paid for the call gets it back with the receipt that watch has kept, and what is owed a day later", async () => {
    const { chain, router, staking } = deployed;
    await succeed(chain, "operator", "bond", "post");
    await succeed(chain, "payer", "cap", "--set", "50");
    const service = await openService(router, chain.wallet("operator"));
    const call = service.charge(addressOf("payer"), toolIdFromUuid(tool), 3_000_000n);
    await succeed(chain, "developer", "stake", tool, "--amount", "6");
    const batchId = await service.settle([call]);
    const receipts = join(folder, "receipts");
    createKeptReceipts(receipts).keep(batchId, service.answers.get(batchId) as never);

    const content = { price: -5 };
    const answer = await signed(content, call.id);
    const evidence = file("paid.json", { schema: SCHEMA, content, answer: { ...answer } });
    expect(await refused("convict", evidence, "--receipts", join(folder, "none"))).toContain(
      "watch --receipts keeps them",
    );
    const before = await staking.creditOf(addressOf("payer"));
    const convicted = await succeed(chain, "payer", "convict", evidence, "--receipts", receipts, "--court", address);
    const { refundUsd, owedUsd } = convicted;
    expect(Number(refundUsd) + Number(owedUsd)).toBe(3);
    expect(Number(owedUsd)).toBeGreaterThan(0);
    await passTime(chain, 32 * 60 * 60);
    const collected = await succeed(chain, "payer", "convict", evidence, "--receipts", receipts, "--court", address);
    expect(collected).toMatchObject({ bountyUsd: "0.00", refundUsd: owedUsd, owedUsd: "0.00" });
    expect((await staking.creditOf(addressOf("payer"))) - before).toBe(3_500_000n);
    expect(await refused("convict", evidence, "--receipts", receipts)).toContain("was given back");
  });

  it("evidence that was changed is refused with what is wrong with it", async () => {
    const answer = await signed({ price: -2 }, "changed");
    const changed = file("changed.json", { schema: SCHEMA, content: { price: -3 }, answer });
    expect(await refused("convict", changed)).toContain("a text is not the one that was signed");
    const other = { ...answer, chargeId: hashJson("another") };
    const forged = file("forged.json", { schema: SCHEMA, content: { price: -2 }, answer: other });
    expect(await refused("convict", forged)).toContain("was no answer key of tool");
    expect(await refused("convict", file("empty.json", {}))).toContain(
      "it needs schema, content and the signed answer",
    );
    expect(await refused("convict", join(folder, "nowhere.json"))).toContain("cannot be read");
  });

  it("a revoked key counts for an hour, and then no more", async () => {
    await as("revoke-key", tool, "--key", account.address);
    await passTime(deployed.chain, 60 * 60 + 1);
    const content = { price: -1 };
    const late = file("late.json", { schema: SCHEMA, content, answer: await signed(content, "late") });
    expect(await refused("convict", late)).toContain("was no answer key of tool");
  });
});
