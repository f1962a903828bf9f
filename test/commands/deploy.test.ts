import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ADMIN_DELAY_SECONDS, connectProtocol, type Protocol, ROLES } from "../../scripts/deploy/protocol.ts";
import { NETWORKS } from "../../scripts/networks.ts";
import { addressOf, type Chain, deployCommand, passTime, placeUsdcAndShare, startChain } from "./chain.ts";

const TRANSACTIONS = 4;

let chain: Chain;
let snapshot: string;

const recordPath = () => join(chain.folder, "deployments", "base.json");
const nonce = () => chain.provider.getTransactionCount(addressOf("deployer"));
const deploy = (...options: string[]) => chain.hardhat([...deployCommand, ...options]);

beforeAll(async () => {
  chain = await startChain();
  await placeUsdcAndShare(chain);
  snapshot = await chain.provider.send("evm_snapshot", []);
});

beforeEach(async () => {
  await chain.provider.send("evm_setAutomine", [true]);
  await chain.provider.send("evm_revert", [snapshot]);
  snapshot = await chain.provider.send("evm_snapshot", []);
});

afterAll(() => chain.stop());

describe("deploy", () => {
  it("the addresses shown beforehand are those of the deployment, which leaves the deployer no role", async () => {
    const asked = await chain.hardhat(deployCommand, { input: "n\n" });
    expect(asked.code).toBe(1);
    expect(asked.stderr).toBe("Nothing was sent.\n");
    expect(asked.stdout).toMatch(/gas +at most 0\.\d+ ETH/);
    expect(await nonce()).toBe(0);

    const { code, stdout, stderr } = await chain.hardhat(deployCommand, { input: "y\n" });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toContain(`The deployer ${addressOf("deployer")} holds no role`);
    const record = JSON.parse(readFileSync(recordPath(), "utf8"));
    for (const [key, title] of [
      ["manager", "AccessManager"],
      ["staking", "ToolStaking"],
      ["router", "ContextRouter"],
    ] as const) {
      const { address, block } = record.contracts[key];
      expect(asked.stdout).toMatch(new RegExp(`${title} +${address}`));
      expect(await chain.provider.getCode(address, block)).not.toBe("0x");
      expect(await chain.provider.getCode(address, block - 1)).toBe("0x");
    }
    expect(record.commit).toMatch(/^[0-9a-f]{40}/);
    expect(record.compiler).toMatchObject({ version: "0.8.37", settings: { viaIR: true, evmVersion: "cancun" } });
    const { manager, router } = protocolOf(record);
    for (const role of Object.values(ROLES)) {
      expect((await manager.hasRole(role, addressOf("deployer"))).isMember).toBe(false);
    }
    expect((await router.operatorLimit(addressOf("deployer"))).limit).toBe(0n);
    expect(await manager.hasRole(ROLES.admin, addressOf("admin"))).toEqual([true, BigInt(ADMIN_DELAY_SECONDS)]);
  });

  it.each([1, 2, 3, 4])(
    "killed after transaction %i was sent, a second run completes it without a copy",
    async (sent) => {
      await chain.provider.send("evm_setAutomine", [false]);
      const first = chain.start([...deployCommand, "--yes"]);
      for (let transaction = 1; transaction < sent; transaction += 1) {
        await first.printed("waiting for a block", transaction);
        await chain.provider.send("evm_mine", []);
      }
      await first.printed("waiting for a block", sent);
      first.child.kill("SIGKILL");
      await first.ended;

      const tooEarly = await deploy("--yes");
      expect(tooEarly.stderr).toContain("still on its way into a block");
      expect(tooEarly.code).toBe(1);

      await chain.provider.send("evm_mine", []);
      await chain.provider.send("evm_setAutomine", [true]);
      const second = await deploy("--yes", "--json");
      expect(second.code).toBe(0);
      expect(JSON.parse(second.stdout).transactions).toHaveLength(TRANSACTIONS - sent);
      expect(await nonce()).toBe(TRANSACTIONS);
    },
  );

  it("a deployment with the same addresses but another admin is reported, not taken for the one asked for", async () => {
    await deploy("--yes");
    const other = deployCommand.map((word) => (word === addressOf("admin") ? addressOf("payer") : word));
    const { code, stderr } = await chain.hardhat([...other, "--yes"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`role admin of ${addressOf("payer")}: expected held, found not held`);
    expect(stderr).toContain("choose another --label");
    expect(await nonce()).toBe(TRANSACTIONS);
  });

  it("Ctrl-C at the question sends nothing", async () => {
    const { child, printed, ended } = chain.start(deployCommand);
    await printed("[y/N]");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 1, stderr: "Nothing was sent.\n" });
    expect(await nonce()).toBe(0);
  });

  it("an input that ends without an answer sends nothing", async () => {
    expect(await chain.hardhat(deployCommand)).toMatchObject({ code: 1, stderr: "Nothing was sent.\n" });
    expect(await nonce()).toBe(0);
  });

  it("a USDC address without code is refused", async () => {
    await chain.provider.send("anvil_setCode", [NETWORKS.base.usdc, "0x"]);
    const { code, stderr } = await deploy("--yes");
    expect(code).toBe(1);
    expect(stderr).toBe(
      `There is no USDC at ${NETWORKS.base.usdc} on base: check the RPC address. Nothing was sent.\n`,
    );
    expect(await nonce()).toBe(0);
  });

  it("a key without gas is told how much it lacks", async () => {
    await chain.provider.send("anvil_setBalance", [addressOf("deployer"), "0x1"]);
    const { code, stderr } = await deploy("--yes");
    expect(code).toBe(1);
    expect(stderr).toMatch(/can cost 0\.\d+ ETH: send it at least 0\.\d+ ETH on base\. Nothing was sent\./);
    expect(await nonce()).toBe(0);
  });

  it("the cost shown includes what Base charges for publishing each transaction on Ethereum", async () => {
    // Answers every question with one ether, in the place of Base's oracle: push it, store it, return the word.
    const oneEther = "0x670de0b6b3a76400005f5260205ff3";
    await chain.provider.send("anvil_setCode", ["0x420000000000000000000000000000000000000F", oneEther]);
    const { stdout } = await chain.hardhat(deployCommand, { input: "n\n" });
    expect(stdout).toMatch(/gas +at most 4\.0\d+ ETH/);
  });

  it("a node of another network is refused", async () => {
    const { code, stderr } = await chain.hardhat(
      deployCommand.map((word) => (word === "base" ? "base-sepolia" : word)),
      { env: { BASE_SEPOLIA_RPC_URL: chain.url, BASE_SEPOLIA_KEY: chain.wallet("deployer").privateKey } },
    );
    expect(code).toBe(1);
    expect(stderr).toContain("is on chain 8453, not 84532");
    expect(stderr).toContain("Nothing was sent.");
  });

  it("a command without a network says which there are", async () => {
    const { code, stderr } = await chain.hardhat(["check-deployment"]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      "No network of ours was named: add --network local or --network base-sepolia or --network base.\n",
    );
  });

  it("a node that does not answer is named as the cause", async () => {
    // Port 1 is reserved and refuses.
    const { code, stderr } = await chain.hardhat(["check-deployment", "--network", "base"], {
      env: { BASE_RPC_URL: "http://127.0.0.1:1" },
    });
    expect(code).toBe(1);
    expect(stderr).toContain("does not answer: check its RPC address");
  });

  it("a key and an address that nobody has stored are named with the command that stores them", async () => {
    // On a build server there is no keystore to ask, as here.
    const without = (variable: string) => ({ env: { [variable]: undefined, CI: "true" } });
    expect(await chain.hardhat(["check-deployment", "--network", "base"], without("BASE_RPC_URL"))).toMatchObject({
      code: 1,
      stderr: "BASE_RPC_URL is not known: put it into the keystore with npx hardhat keystore set BASE_RPC_URL.\n",
    });
    const { stderr } = await chain.hardhat(deployCommand, without("BASE_KEY"));
    expect(stderr).toBe("BASE_KEY is not known: put it into the keystore with npx hardhat keystore set BASE_KEY.\n");
  });

  it("Ctrl-C while a transaction waits says that it goes on", async () => {
    await chain.provider.send("evm_setAutomine", [false]);
    const { child, printed, ended } = chain.start([...deployCommand, "--yes"]);
    await printed("waiting for a block");
    child.kill("SIGINT");
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /^Stopped waiting\. The transaction 0x[0-9a-f]{64} was sent and goes on without this command\.$/m,
    );
    await chain.provider.send("evm_mine", []);
    await chain.provider.send("evm_setAutomine", [true]);
    expect(await nonce()).toBe(1);
  });

  it("a node that can simulate only one call at a time is enough", async () => {
    const node = await startWithout("eth_simulateV1", chain.url);
    const { code, stdout } = await chain.hardhat([...deployCommand, "--yes"], { env: { BASE_RPC_URL: node.url } });
    node.stop();
    expect(code).toBe(0);
    expect(stdout).toContain("ETH for step 1, all that this node can foresee");
    expect(await nonce()).toBe(TRANSACTIONS);
  });

  it("a deployer that would keep a role is refused", async () => {
    const { code, stderr } = await chain.hardhat(deployCommand, { as: "guardian" });
    expect(code).toBe(1);
    expect(stderr).toContain("--guardian is the deployer");
  });

  it("a missing and a mistyped party are named", async () => {
    const short = await chain.hardhat(["deploy", "--network", "base", "--admin", addressOf("admin").slice(0, -1)]);
    expect(short.stderr).toContain("--admin is");
    const without = await chain.hardhat(["deploy", "--network", "base", "--admin", addressOf("admin")]);
    expect(without.stderr).toBe("--treasury is missing: add --treasury and its value.\n");
  });
});

describe("check-deployment", () => {
  let protocol: Protocol;

  beforeAll(async () => {
    await chain.provider.send("evm_revert", [snapshot]);
    await deploy("--yes");
    snapshot = await chain.provider.send("evm_snapshot", []);
    protocol = protocolOf(JSON.parse(readFileSync(recordPath(), "utf8")));
  });

  const check = async () => {
    const { code, stdout } = await chain.hardhat(["check-deployment", "--network", "base", "--json"]);
    return { code, subjects: JSON.parse(stdout).differences.map(({ subject }: { subject: string }) => subject) };
  };

  it("a fresh deployment has no differences, and deployments lists it with the same code", async () => {
    expect(await check()).toEqual({ code: 0, subjects: [] });
    const { stdout } = await chain.hardhat(["deployments", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject([{ network: "base", sameCode: true }]);
  });

  it("a single changed byte of code is found", async () => {
    const router = await protocol.router.getAddress();
    const code = await chain.provider.getCode(router);
    // Inside the metadata at the end, so that the contract works as before.
    await chain.provider.send("anvil_setCode", [router, `${code.slice(0, -8)}00${code.slice(-6)}`]);
    expect(await check()).toEqual({ code: 1, subjects: [`ContextRouter at ${router}, bytecode`] });
  });

  it("an extra role holder is found", async () => {
    const grant = protocol.manager.interface.encodeFunctionData("grantRole", [ROLES.guardian, addressOf("payer"), 0]);
    await actAsAdmin(await protocol.manager.getAddress(), grant);
    expect(await check()).toEqual({ code: 1, subjects: [`role guardian of ${addressOf("payer")}`] });
  });

  it("a changed parameter is found", async () => {
    const change = protocol.staking.interface.encodeFunctionData("setParameters", [
      { minimumStake: 10_000_000n, stakeMultiplier: 50n, bountyBps: 1_000n },
    ]);
    await actAsAdmin(await protocol.staking.getAddress(), change);
    expect(await check()).toEqual({ code: 1, subjects: ["parameter stakeMultiplier"] });
  });

  it("an operator that the record does not name is found", async () => {
    const admit = protocol.router.interface.encodeFunctionData("setOperatorLimit", [addressOf("payer"), 1n]);
    await actAsAdmin(await protocol.router.getAddress(), admit);
    expect(await check()).toEqual({ code: 1, subjects: [`daily limit of operator ${addressOf("payer")}`] });
  });

  it("a function that was given to another role is found", async () => {
    const { selector } = protocol.router.interface.getFunction("setOperatorLimit");
    const move = protocol.manager.interface.encodeFunctionData("setTargetFunctionRole", [
      await protocol.router.getAddress(),
      [selector],
      ROLES.guardian,
    ]);
    await actAsAdmin(await protocol.manager.getAddress(), move);
    expect(await check()).toEqual({ code: 1, subjects: ["who may call router.setOperatorLimit"] });
  });

  async function actAsAdmin(target: string, data: string): Promise<void> {
    const manager = protocol.manager.connect(chain.wallet("admin"));
    await (await manager.schedule(target, data, 0)).wait();
    await passTime(chain, ADMIN_DELAY_SECONDS);
    await (await manager.execute(target, data)).wait();
  }
});

it("a network without a record says how to get one", async () => {
  const empty = { DEPLOYMENTS_FOLDER: join(chain.folder, "none") };
  const { code, stderr } = await chain.hardhat(["check-deployment", "--network", "base"], { env: empty });
  expect(code).toBe(1);
  expect(stderr).toContain("run deploy first");
  expect(existsSync(empty.DEPLOYMENTS_FOLDER)).toBe(false);
});

// The same node, as one that does not know a method.
async function startWithout(method: string, url: string) {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id, method: asked } = JSON.parse(body);
    const error = { jsonrpc: "2.0", id, error: { code: -32601, message: "the method does not exist" } };
    const headers = { "content-type": "application/json" };
    const answer =
      asked === method ? JSON.stringify(error) : await (await fetch(url, { method: "POST", headers, body })).text();
    response.setHeader("content-type", "application/json").end(answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

type RecordedContracts = { contracts: Record<"manager" | "staking" | "router", { address: string }> };

const protocolOf = ({ contracts }: RecordedContracts) =>
  connectProtocol(
    {
      manager: contracts.manager.address,
      staking: contracts.staking.address,
      router: contracts.router.address,
    },
    chain.provider,
  );
