import { JsonRpcProvider, ZeroAddress } from "ethers";
import { type Address, hashTypedData } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hashJson, hashRequest, typedAnswer } from "../../../marketplace/toolkit/index.ts";
import { type Anvil, startAnvil } from "../../../scripts/world/hosts/startAnvil.ts";
import { toolIdFromUuid } from "../../../settlement/domain/toolId.ts";
import { type SchemaCourt, SchemaCourt__factory } from "../../../typechain-types/index.ts";

const CHAIN_ID = 8453;

let anvil: Anvil;
let provider: JsonRpcProvider;
let court: SchemaCourt;
beforeAll(async () => {
  anvil = await startAnvil({ port: 0, chainId: CHAIN_ID });
  provider = new JsonRpcProvider(anvil.url, CHAIN_ID, { staticNetwork: true });
  const factory = new SchemaCourt__factory(await provider.getSigner(0));
  court = await (await factory.deploy(ZeroAddress, ZeroAddress, ZeroAddress)).waitForDeployment();
});
afterAll(async () => {
  provider.destroy();
  await anvil.stop();
});

it("what the toolkit lets a tool sign is what the court reads", async () => {
  const address = (await court.getAddress()) as Address;
  for (const method of ["quote", "", "größe😀", "a".repeat(100)]) {
    const answer = {
      toolId: "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b",
      method,
      chargeId: hashJson(["charge", method]),
      requestHash: hashRequest(method, { of: "ETH" }),
      answerHash: hashJson({ price: 1.5 }),
      schemaHash: hashJson({ type: "object" }),
      answeredAt: 1_800_000_000,
    };
    const signed = hashTypedData(typedAnswer(answer, { chainId: CHAIN_ID, address }));
    expect(await court.digestOf({ ...answer, toolId: toolIdFromUuid(answer.toolId) })).toBe(signed);
  }
});
