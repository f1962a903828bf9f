import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startDeployedChain } from "./chain.ts";

let deployed: Awaited<ReturnType<typeof startDeployedChain>>;
let explorer: Server;
const submissions: URLSearchParams[] = [];

// An explorer that takes every submission at its word and keeps it.
beforeAll(async () => {
  deployed = await startDeployedChain();
  // The sources that are submitted are those of the build.
  await deployed.chain.hardhat(["build", "--quiet", "--no-typechain"]);
  explorer = createServer(async (request, response) => {
    const action = new URL(request.url ?? "", "http://explorer").searchParams.get("action");
    if (action === "verifysourcecode") submissions.push(new URLSearchParams(await text(request)));
    const result =
      { getsourcecode: [{ SourceCode: "" }], verifysourcecode: "ticket" }[action ?? ""] ?? "Pass - Verified";
    response.setHeader("content-type", "application/json").end(JSON.stringify({ status: "1", message: "OK", result }));
  }).listen(0, "127.0.0.1");
  await once(explorer, "listening");
});

afterAll(async () => {
  explorer.close();
  await deployed.chain.stop();
});

it("verify-deployment submits each contract with its sources and arguments", async () => {
  const { port } = explorer.address() as AddressInfo;
  const { chain, manager, staking, bonds, router, receiptCourt, jsonSchema, schemaCourt } = deployed;
  const { code, stdout, stderr } = await chain.hardhat(["verify-deployment", "--network", "base", "--json"], {
    env: { EXPLORER_API_URL: `http://127.0.0.1:${port}/api`, ETHERSCAN_API_KEY: "key" },
  });
  expect(code, stderr).toBe(0);
  const contracts = [manager, staking, bonds, router, receiptCourt, jsonSchema, schemaCourt];
  const addresses = await Promise.all(contracts.map((contract) => contract.getAddress()));
  expect(JSON.parse(stdout)).toEqual({ network: "base", verified: addresses });
  expect(submissions.map((submission) => submission.get("contractaddress"))).toEqual(addresses);
  const [, , , submitted] = submissions;
  expect(submitted?.get("contractname")).toMatch(/ContextRouter\.sol:ContextRouter$/);
  expect(submitted?.get("compilerversion")).toMatch(/^v0\.8\.37/);
  const input = JSON.parse(submitted?.get("sourceCode") ?? "");
  expect(input.settings).toMatchObject({ viaIR: true, evmVersion: "cancun" });
  expect(Object.keys(input.sources).some((path) => path.endsWith("libraries/RevenueSplit.sol"))).toBe(true);
  const [authority] = addresses;
  expect(submitted?.get("constructorArguments")).toContain(authority?.slice(2).toLowerCase());
});

it("a missing key of the explorer is named with the command that stores it", async () => {
  const { code, stderr } = await deployed.chain.hardhat(["verify-deployment", "--network", "base"], {
    // Without a terminal the keystore cannot ask for its password, so it is left out as on a build server.
    env: { ETHERSCAN_API_KEY: undefined, CI: "true" },
  });
  expect(code).toBe(1);
  expect(stderr).toContain("ETHERSCAN_API_KEY is not known: put it into the keystore");
});
