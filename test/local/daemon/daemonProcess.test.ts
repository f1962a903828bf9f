import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Ask } from "../../../scripts/client/createClient.ts";
import type { Program } from "../../../scripts/process/startProgram.ts";
import { PATIENTLY } from "../../../scripts/waiting/until.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { createKeystore } from "../../../settlement/chain/signer/createKeystore.ts";
import type { Environment } from "../../../settlement/config.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { createPostgresStore } from "../../../settlement/ledger/testing/backends.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { mineBlocks } from "../world/mineBlocks.ts";
import { askOf, environmentOf, settleInProcess, startSettle } from "./testDaemon.ts";

const LEASE_MS = 30_000;
const PASSWORD = "the keystore's password";

let world: LocalWorld;
let folder: string;
let common: Environment;
let mining: ReturnType<typeof mineBlocks>;
const running: Program[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(DISKLESS, "daemon-process-"));
  world = await startWorld({ tools: 1, payers: 1, operators: 3 });
  mining = mineBlocks(world, { everyMs: 100 });
  for (const [i, { privateKey }] of world.operators.entries()) {
    await createKeystore({ path: keystoreOf(i), password: PASSWORD, privateKey });
  }
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  common = {
    ...(await environmentOf(world, "")),
    SETTLEMENT_KEYSTORES: keystoreOf(0),
    SETTLEMENT_LOG_LEVEL: "info",
    // As systemd hands it over.
    SETTLEMENT_KEYSTORE_PASSWORD_FILE: passwordFile,
  };
});

afterAll(async () => {
  await Promise.all(running.map((program) => program.kill()));
  await mining?.stop();
  await world?.stop();
  rmSync(folder, { recursive: true, force: true });
});

// A key belongs to one ledger, so each test has its own.
const keystoreOf = (i: number) => join(folder, `operator ${i}.json`);

type DaemonProcess = Program & { ask: Ask };

async function startProcess(environment: Environment): Promise<DaemonProcess> {
  const program = startSettle(["daemon"], environment);
  running.push(program);
  const [, url = ""] = await program.printed(/"url":"(http:[^"]+)"/);
  return { ...program, ask: askOf(url) };
}

const turnOf = (turnId: string) => ({
  turnId,
  payer: world.payers[0]?.address,
  outcome: "delivered",
  modelCostUsd: "0.01",
  tools: [{ toolId: uuidFromToolId(world.tools[0]?.toolId ?? "0x"), amountUsd: "0.10", calls: 1 }],
});

const statesOf = async ({ ask }: DaemonProcess, turnId: string) =>
  ((await ask("GET", `/v1/turns/${turnId}`)).body as unknown as { charges: { state: string }[] }).charges.map(
    ({ state }) => state,
  );

it("a daemon on PostgreSQL drains on SIGTERM, and the one beside it goes on at once", async () => {
  const store = await createPostgresStore();
  try {
    const ledgerFile = join(folder, "ledger-address");
    writeFileSync(ledgerFile, store.location);
    const { SETTLEMENT_LEDGER: _, ...rest } = common;
    const environment = { ...rest, SETTLEMENT_LEDGER_FILE: ledgerFile };
    const first = await startProcess({ ...environment, SETTLEMENT_HOLDER: "first" });
    await first.ask("POST", "/v1/turns", turnOf("before"));
    await expect.poll(() => statesOf(first, "before"), PATIENTLY).toEqual(["final", "final"]);
    // It waits, because the first holds the lease of the only key.
    const second = await startProcess({ ...environment, SETTLEMENT_HOLDER: "second" });
    await expect.poll(async () => (await second.ask("GET", "/ready")).text, PATIENTLY).toContain("ticks end");

    const ledger = await store.open();
    const lease = () => ledger.acquireLease(world.parties.operator.address, "second", LEASE_MS);
    expect(await lease()).toBeNull();
    expect(await first.stop()).toMatchObject({ code: 0 });
    // It was given back, and did not only run out: that takes longer than any of this.
    expect(await lease()).not.toBeNull();
    expect(first.stdout()).toContain('"event":"draining"');
    expect(first.stdout()).toContain('"event":"stopped"');
    expect(second.stdout()).not.toContain('"event":"sent"');

    await second.ask("POST", "/v1/turns", turnOf("after"));
    await expect.poll(() => statesOf(second, "after"), PATIENTLY).toEqual(["final", "final"]);
    expect(await second.stop()).toMatchObject({ code: 0 });
    expect(second.stdout()).toContain('"event":"sent"');
    for (const { output } of [first, second]) expect(output()).not.toContain(PASSWORD);
  } finally {
    await store.remove();
  }
});

it("a second signal ends a daemon that cannot finish draining, and the next one goes on from its ledger", async () => {
  const environment = {
    ...common,
    SETTLEMENT_LEDGER: join(folder, "signals.db"),
    SETTLEMENT_HOLDER: "signals",
    SETTLEMENT_KEYSTORES: keystoreOf(1),
  };
  const daemon = await startProcess(environment);
  await expect.poll(async () => (await daemon.ask("GET", "/ready")).text, PATIENTLY).toContain("ticks end");
  await mining?.stop();
  world.node.signal("SIGSTOP");
  try {
    // The chain does not answer any more, so the tick that runs, and the last one, wait for it.
    expect(await daemon.ask("POST", "/v1/turns", turnOf("cut-off"))).toMatchObject({ status: 200 });
    daemon.signal("SIGTERM");
    await daemon.printed('"event":"draining"');
    expect(daemon.child.exitCode).toBeNull();
    daemon.signal("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: 1, signal: null });
    expect(daemon.stdout()).not.toContain('"event":"stopped"');
  } finally {
    world.node.signal("SIGCONT");
    mining = mineBlocks(world, { everyMs: 100 });
  }
  const next = await startProcess(environment);
  await expect.poll(() => statesOf(next, "cut-off"), PATIENTLY).toEqual(["final", "final"]);
  expect(await next.stop()).toMatchObject({ code: 0 });
});

it("a copy that was made beside a running daemon can take the ledger's place", async () => {
  const path = join(folder, "drill.db");
  const environment = {
    ...common,
    SETTLEMENT_LEDGER: path,
    SETTLEMENT_FROM_BLOCK: `${await world.provider.getBlockNumber()}`,
    SETTLEMENT_KEYSTORES: keystoreOf(2),
  };
  const daemon = await startProcess(environment);
  await daemon.ask("POST", "/v1/turns", turnOf("kept"));
  await expect.poll(() => statesOf(daemon, "kept"), PATIENTLY).toEqual(["final", "final"]);
  const copy = join(folder, "copy.db");
  expect(await settleInProcess(["backup", copy], environment)).toMatchObject({ code: 0 });
  expect(await settleInProcess(["backup", copy], environment)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("exists; name a new file"),
  });
  await daemon.stop();
  const before = JSON.parse((await settleInProcess(["status", "--json"], environment)).stdout);

  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  copyFileSync(copy, path);
  expect(JSON.parse((await settleInProcess(["status", "--json"], environment)).stdout)).toEqual(before);
  expect(await settleInProcess(["audit"], environment)).toMatchObject({ code: 0 });
});

it("a new operator key is written encrypted, and only its address is shown", async () => {
  const path = join(folder, "new.json");
  const environment = { SETTLEMENT_KEYSTORE_PASSWORD_FILE: common.SETTLEMENT_KEYSTORE_PASSWORD_FILE };
  const made = await settleInProcess(["keystore", "create", path], environment);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/holds the key of 0x[0-9a-fA-F]{40}\n$/) });
  expect(await settleInProcess(["keystore", "create", path], environment)).toMatchObject({ code: 1 });
  expect(await settleInProcess(["keystore", "create", `${path}2`], {})).toMatchObject({
    code: 1,
    stderr: "SETTLEMENT_KEYSTORE_PASSWORD is missing, and so is SETTLEMENT_KEYSTORE_PASSWORD_FILE.\n",
  });
});
