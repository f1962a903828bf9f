import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NETWORKS } from "../../scripts/config/networks.ts";
import { addressesOf, connectProtocol, type Protocol } from "../../scripts/protocol/connectProtocol.ts";
import { ADMIN_DELAY_SECONDS, ROLES } from "../../scripts/protocol/description.ts";
import { PARAMETERS } from "../../scripts/protocol/parameters.ts";
import { mined } from "../../scripts/world/mined.ts";
import type { DeploymentRecord } from "../../settlement/deployment.ts";
import { AccessManager__factory } from "../../typechain-types/index.ts";
import { addressOf, type Chain, deployCommand, passTime, placeUsdcAndShare, startChain } from "./chain.ts";

const TRANSACTIONS = 8;

const initialParameters = {
  minimumStake: PARAMETERS.minimumStake.initial,
  stakeMultiplier: PARAMETERS.stakeMultiplier.initial,
  bountyBps: PARAMETERS.bountyBps.initial,
  maxPenalty: PARAMETERS.maxPenalty.initial,
  dailyPenaltyBps: PARAMETERS.dailyPenaltyBps.initial,
  earningMultiple: PARAMETERS.earningMultiple.initial,
};

let chain: Chain;
let snapshot: string;

const recordPath = () => join(chain.folder, "deployments", "base.json");
const nonce = () => chain.provider.getTransactionCount(addressOf("deployer"));
const deploy = (...options: string[]) => chain.task([...deployCommand, ...options], "deployer");

beforeAll(async () => {
  chain = await startChain();
  await placeUsdcAndShare(chain);
  snapshot = await chain.provider.send("evm_snapshot", []);
});

beforeEach(async () => {
  await chain.provider.send("anvil_dropAllTransactions", []);
  await chain.provider.send("evm_setAutomine", [true]);
  await chain.provider.send("evm_revert", [snapshot]);
  snapshot = await chain.provider.send("evm_snapshot", []);
});

afterAll(() => chain.stop());

describe("deploy", () => {
  it("the addresses shown beforehand are those of the deployment, which leaves the deployer no role", async () => {
    const asked = await chain.hardhat(deployCommand, { input: "n\n" });
    expect(asked.code).toBe(1);
    expect(asked.stderr).toBe("Not confirmed. Nothing was sent.\n");
    expect(asked.stdout).toMatch(/gas +at most 0\.\d+ ETH/);
    expect(await nonce()).toBe(0);

    const { code, stdout, stderr } = await chain.hardhat(deployCommand, { input: "y\n" });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toContain(`The deployer ${addressOf("deployer")} holds no role`);
    const record = JSON.parse(readFileSync(recordPath(), "utf8"));
    for (const [key, title] of [
      ["manager", "ProtocolAccess"],
      ["staking", "ToolStaking"],
      ["bonds", "OperatorBonds"],
      ["router", "ContextRouter"],
      ["receiptCourt", "ReceiptCourt"],
      ["jsonSchema", "JsonSchema"],
      ["schemaCourt", "SchemaCourt"],
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
    expect(await manager.hasRole(ROLES.court, record.contracts.schemaCourt.address)).toEqual([true, 0n]);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
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

      const tooEarly = await deploy();
      expect(tooEarly.stderr).toContain("still on its way into a block");
      expect(tooEarly.code).toBe(1);

      await chain.provider.send("evm_mine", []);
      await chain.provider.send("evm_setAutomine", [true]);
      const second = await deploy("--json");
      expect(second.code).toBe(0);
      expect(JSON.parse(second.stdout).transactions).toHaveLength(TRANSACTIONS - sent);
      expect(await nonce()).toBe(TRANSACTIONS);
    },
  );

  it("a deployment with the same addresses but another admin is reported, not taken for the one asked for", async () => {
    await deploy();
    const other = deployCommand.map((word) => (word === addressOf("admin") ? addressOf("payer") : word));
    const { code, stdout, stderr } = await chain.task(other, "deployer");
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`role admin of ${addressOf("payer")} +expected held, found not held`));
    expect(stderr).toContain("choose another --label");
    expect(await nonce()).toBe(TRANSACTIONS);
  });

  it("Ctrl-C at the question sends nothing", async () => {
    const { child, printed, ended } = chain.start(deployCommand);
    await printed("[y/N]");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 1, stderr: "Not confirmed. Nothing was sent.\n" });
    expect(await nonce()).toBe(0);
  });

  it("an input that ends without an answer sends nothing", async () => {
    expect(await chain.hardhat(deployCommand)).toMatchObject({ code: 1, stderr: "Not confirmed. Nothing was sent.\n" });
    expect(await nonce()).toBe(0);
  });

  it("a USDC address without code is refused", async () => {
    await chain.provider.send("anvil_setCode", [NETWORKS.base.usdc, "0x"]);
    const { code, stderr } = await deploy();
    expect(code).toBe(1);
    expect(stderr).toBe(
      `There is no USDC at ${NETWORKS.base.usdc} on base: check the RPC address. Nothing was sent.\n`,
    );
    expect(await nonce()).toBe(0);
  });

  it("a key without gas is told how much it lacks", async () => {
    await chain.provider.send("anvil_setBalance", [addressOf("deployer"), "0x1"]);
    const { code, stderr } = await deploy();
    expect(code).toBe(1);
    expect(stderr).toMatch(/can cost 0\.\d+ ETH: send it at least 0\.\d+ ETH on base\. Nothing was sent\./);
    expect(await nonce()).toBe(0);
  });

  it("the cost shown includes what Base charges for publishing each transaction on Ethereum", async () => {
    // Answers every question with one ether, in the place of Base's oracle: push it, store it, return the word.
    const oneEther = "0x670de0b6b3a76400005f5260205ff3";
    await chain.provider.send("anvil_setCode", ["0x420000000000000000000000000000000000000F", oneEther]);
    const { stdout } = await chain.hardhat(deployCommand, { input: "n\n" });
    expect(stdout).toMatch(new RegExp(`gas +at most ${TRANSACTIONS}\\.0\\d+ ETH`));
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
    const { code, stderr } = await chain.task(["check-deployment"], "deployer");
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
    expect(stderr).toBe(
      "BASE_KEY is not known: put it into the keystore with npx hardhat keystore set BASE_KEY. Nothing was sent.\n",
    );
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

  it("a node that is cut off while it takes a transaction leaves open whether it was sent", async () => {
    const node = await startNode({ eth_sendRawTransaction: "cut" });
    const { code, stderr } = await chain.hardhat([...deployCommand, "--yes"], { env: { BASE_RPC_URL: node.url } });
    node.stop();
    expect(code).toBe(1);
    expect(stderr).toBe(
      "The network's node does not answer: check its RPC address and that it is running. " +
        "A transaction may have been sent: look at the account before you run the command again.\n",
    );
    expect(await nonce()).toBe(1);
  });

  it("a node that can simulate only one call at a time is enough", async () => {
    const node = await startNode({ eth_simulateV1: "unknown" });
    const { code, stdout } = await chain.hardhat([...deployCommand, "--yes"], { env: { BASE_RPC_URL: node.url } });
    node.stop();
    expect(code).toBe(0);
    expect(stdout).toContain("ETH for step 1, all that this node can simulate");
    expect(await nonce()).toBe(TRANSACTIONS);
  });

  it("a deployer that would keep a role is refused", async () => {
    const { code, stderr } = await chain.task(deployCommand, "guardian");
    expect(code).toBe(1);
    expect(stderr).toContain("--guardian is the deployer");
  });

  it.each([
    ["guardian", "admin", "cancels what the admin schedules"],
    ["adjudicator", "guardian", "vetoes what the adjudicator proposes"],
    ["adjudicator", "insurance", "must not earn by it"],
    ["operator", "guardian", "suspends the operator"],
    ["operator", "treasury", "says how much the treasury earns"],
  ] as const)("one address as %s and %s, who check each other, is refused", async (one, other, because) => {
    const twice = deployCommand.map((word) => (word === addressOf(one) ? addressOf(other) : word));
    const { code, stderr } = await chain.task(twice, "deployer");
    expect(code).toBe(1);
    expect(stderr).toContain(because);
    expect(stderr).toMatch(
      new RegExp(`^${addressOf(other)} is \\w+ and \\w+, and .*: name two addresses\\. Nothing was sent\\.$`, "m"),
    );
    expect(await nonce()).toBe(0);
  });

  it("a missing and a mistyped party are named", async () => {
    const short = await chain.task(
      ["deploy", "--network", "base", "--admin", addressOf("admin").slice(0, -1)],
      "deployer",
    );
    expect(short.stderr).toContain("--admin is");
    const without = await chain.task(["deploy", "--network", "base", "--admin", addressOf("admin")], "deployer");
    expect(without.stderr).toBe("--treasury is missing: add --treasury and its value. Nothing was sent.\n");
  });
});

describe("check-deployment", () => {
  let protocol: Protocol;

  beforeAll(async () => {
    await chain.provider.send("evm_revert", [snapshot]);
    await deploy();
    snapshot = await chain.provider.send("evm_snapshot", []);
    protocol = protocolOf(JSON.parse(readFileSync(recordPath(), "utf8")));
  });

  const check = async () => {
    const { code, stdout } = await chain.task(["check-deployment", "--network", "base", "--json"], "deployer");
    return { code, subjects: JSON.parse(stdout).differences.map(({ subject }: { subject: string }) => subject) };
  };

  it("a fresh deployment has no differences, and deployments lists it with the same code", async () => {
    expect(await check()).toEqual({ code: 0, subjects: [] });
    const { stdout } = await chain.task(["deployments", "--json"], "deployer");
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
      { ...initialParameters, stakeMultiplier: 50n },
    ]);
    await actAsAdmin(await protocol.staking.getAddress(), change);
    expect(await check()).toEqual({ code: 1, subjects: ["parameter stakeMultiplier"] });
  });

  it("an operator that the record does not name is found", async () => {
    const admit = protocol.router.interface.encodeFunctionData("setOperatorLimit", [addressOf("payer"), 1n]);
    await actAsAdmin(await protocol.router.getAddress(), admit);
    expect(await check()).toEqual({ code: 1, subjects: [`daily limit of operator ${addressOf("payer")}`] });
  });

  // ProtocolAccess lets none of this happen. It is done here while its code is exchanged for OpenZeppelin's AccessManager,
  // which has the same storage, so that the check is seen to read and not to believe.
  describe("somebody who acts for the admin is found", () => {
    const thief = addressOf("payer");
    const DAY = 24 * 60 * 60;
    type Calls = (protocol: Protocol) => Promise<string[]> | string[];

    it.each<{ way: string; calls: Calls; found: string }>([
      {
        way: "a grant that lies in wait",
        calls: ({ manager }) => [
          manager.interface.encodeFunctionData("setGrantDelay", [ROLES.admin, 60 * DAY]),
          manager.interface.encodeFunctionData("grantRole", [ROLES.admin, thief, ADMIN_DELAY_SECONDS]),
        ],
        found: `role admin of ${thief}`,
      },
      {
        way: "a delay of grants",
        calls: ({ manager }) => [manager.interface.encodeFunctionData("setGrantDelay", [ROLES.guardian, 60 * DAY])],
        found: "the manager in block",
      },
      {
        way: "the admin's own delay, about to end",
        calls: ({ manager }) => [
          manager.interface.encodeFunctionData("grantRole", [ROLES.admin, addressOf("admin"), 0]),
        ],
        found: `role admin of ${addressOf("admin")}, pending delay`,
      },
      {
        way: "a role that grants roles",
        calls: ({ manager }) => [
          manager.interface.encodeFunctionData("setRoleAdmin", [ROLES.adjudicator, 7]),
          manager.interface.encodeFunctionData("grantRole", [7, thief, 0]),
        ],
        found: `who grants role ${ROLES.adjudicator}`,
      },
      {
        way: "a member of a role that nobody knows",
        calls: ({ manager }) => [manager.interface.encodeFunctionData("grantRole", [7, thief, 0])],
        found: `role 7 of ${thief}`,
      },
      {
        way: "a role that cancels",
        calls: ({ manager }) => [manager.interface.encodeFunctionData("setRoleGuardian", [ROLES.adjudicator, 7])],
        found: `who cancels operations of role ${ROLES.adjudicator}`,
      },
      {
        way: "a delay of a target",
        calls: async ({ manager, staking }) => [
          manager.interface.encodeFunctionData("setTargetAdminDelay", [await staking.getAddress(), DAY]),
        ],
        found: "the manager in block",
      },
      {
        way: "a closed target",
        calls: async ({ manager, router }) => [
          manager.interface.encodeFunctionData("setTargetClosed", [await router.getAddress(), true]),
        ],
        found: "the router",
      },
      {
        way: "another authority",
        calls: async ({ manager, staking, router }) => [
          manager.interface.encodeFunctionData("updateAuthority", [
            await staking.getAddress(),
            await router.getAddress(),
          ]),
        ],
        found: "authority of the staking",
      },
      {
        way: "a function of another role",
        calls: async ({ manager, router }) => [
          manager.interface.encodeFunctionData("setTargetFunctionRole", [
            await router.getAddress(),
            [router.interface.getFunction("setOperatorLimit").selector],
            ROLES.guardian,
          ]),
        ],
        found: "who may call router.setOperatorLimit",
      },
    ])("$way", async ({ calls, found }) => {
      await asPlainManager(calls);
      const { code: exitCode, subjects } = await check();
      expect(exitCode).toBe(1);
      expect(subjects).toContainEqual(expect.stringContaining(found));
      expect(subjects.join()).not.toContain("bytecode");
    });

    // As a deployer might who writes the record.
    it("an admin that need not wait, though the record says so", async () => {
      await asPlainManager(({ manager }) => [
        manager.interface.encodeFunctionData("grantRole", [ROLES.admin, thief, 0]),
        manager.interface.encodeFunctionData("revokeRole", [ROLES.admin, addressOf("admin")]),
      ]);
      const subjects = await checkWith((record) => {
        record.parties.admin = thief;
        record.adminDelaySeconds = 0;
      });
      expect(subjects).toContain(`role admin of ${thief}, delay`);
    });

    async function asPlainManager(calls: Calls): Promise<void> {
      const address = await protocol.manager.getAddress();
      const code = await chain.provider.getCode(address);
      const plain = await new AccessManager__factory(chain.wallet("circle")).deploy(addressOf("circle"));
      await plain.waitForDeployment();
      await chain.provider.send("anvil_setCode", [address, await chain.provider.getCode(plain)]);
      for (const call of await calls(protocol)) await actAsAdmin(address, call);
      await chain.provider.send("anvil_setCode", [address, code]);
    }
  });

  describe("a record that hides something is found", () => {
    it.each<{ how: string; change: (record: DeploymentRecord) => void; found: string }>([
      {
        how: "it begins after what it hides",
        change: (record) => {
          record.contracts.manager.block += 1;
        },
        found: "ProtocolAccess at block",
      },
      {
        how: "it names another token",
        change: (record) => {
          record.usdc = addressOf("payer");
        },
        found: "USDC in the record",
      },
      {
        how: "it names other arguments of a constructor",
        change: (record) => {
          record.contracts.router.arguments[3] = addressOf("payer");
        },
        found: "address of ContextRouter",
      },
      {
        how: "it names another treasury",
        change: (record) => {
          record.parties.treasury = addressOf("payer");
        },
        found: "treasury",
      },
      {
        how: "it names one account for two duties that check each other",
        change: (record) => {
          record.parties.guardian = addressOf("admin");
        },
        found: "duties",
      },
    ])("$how", async ({ change, found }) => {
      expect(await checkWith(change)).toContainEqual(expect.stringContaining(found));
    });
  });

  // What differs if the record is another.
  async function checkWith(change: (record: DeploymentRecord) => void): Promise<string[]> {
    const text = readFileSync(recordPath(), "utf8");
    const record = JSON.parse(text);
    change(record);
    try {
      writeFileSync(recordPath(), JSON.stringify(record));
      const { code, subjects } = await check();
      expect(code).toBe(1);
      return subjects;
    } finally {
      writeFileSync(recordPath(), text);
    }
  }

  async function actAsAdmin(target: string, data: string): Promise<void> {
    const manager = protocol.manager.connect(chain.wallet("admin"));
    await mined(manager.schedule(target, data, 0));
    await passTime(chain, ADMIN_DELAY_SECONDS);
    await mined(manager.execute(target, data));
  }
});

it("a network without a record says how to get one", async () => {
  const empty = { DEPLOYMENTS_FOLDER: join(chain.folder, "none") };
  const { code, stderr } = await chain.hardhat(["check-deployment", "--network", "base"], { env: empty });
  expect(code).toBe(1);
  expect(stderr).toContain("npx hardhat deploy --network base makes it");
  expect(existsSync(empty.DEPLOYMENTS_FOLDER)).toBe(false);
});

// The same node, as one that does not know a method, or does what it is asked and is cut off before it can say so.
async function startNode(faults: Readonly<Record<string, "unknown" | "cut">>) {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id, method } = JSON.parse(body);
    const headers = { "content-type": "application/json" };
    const unknown = { jsonrpc: "2.0", id, error: { code: -32601, message: "the method does not exist" } };
    const answer =
      faults[method] === "unknown"
        ? JSON.stringify(unknown)
        : await (await fetch(chain.url, { method: "POST", headers, body })).text();
    if (faults[method] === "cut") response.destroy();
    else response.setHeader("content-type", "application/json").end(answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

const protocolOf = (record: DeploymentRecord) => connectProtocol(addressesOf(record), chain.provider);
