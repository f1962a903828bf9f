import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKeystore } from "../../settlement/chain/createKeystore.ts";
import type { Environment } from "../../settlement/config.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { createPostgresStore } from "../../settlement/ledger/testing/backends.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";
import { askOf, environmentOf, settleCommand, spawnSettle, type TestDaemon } from "./testDaemon.ts";

const POLL = { timeout: 20_000, interval: 50 };
const PASSWORD = "the keystore's password";

let chain: LocalChain;
let folder: string;
let common: Environment;
let mining: NodeJS.Timeout;
const running: DaemonProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "daemon-process-"));
  chain = await startLocalChain({ tools: 1, payers: 1 });
  mining = setInterval(() => void chain.rpc("anvil_mine", ["0x1"]).catch(() => undefined), 100);
  const keystore = join(folder, "operator.json");
  await createKeystore({ path: keystore, password: PASSWORD, privateKey: chain.operators[0]?.privateKey ?? "0x" });
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  common = {
    ...(await environmentOf(chain, "")),
    SETTLEMENT_KEYSTORES: keystore,
    SETTLEMENT_LOG_LEVEL: "info",
    // As systemd hands it over.
    SETTLEMENT_KEYSTORE_PASSWORD_FILE: passwordFile,
  };
});

afterAll(async () => {
  for (const { child } of running) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  clearInterval(mining);
  await chain?.stop();
  rmSync(folder, { recursive: true, force: true });
});

type DaemonProcess = {
  child: ReturnType<typeof spawnSettle>;
  log: () => string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  ask: TestDaemon["ask"];
};

async function startProcess(environment: Environment): Promise<DaemonProcess> {
  const child = spawnSettle(["daemon"], environment);
  let log = "";
  child.stdout.on("data", (chunk: Buffer) => {
    log += chunk;
  });
  const ended: DaemonProcess["ended"] = new Promise((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  const urlOf = () => /"url":"(http:[^"]+)"/.exec(log)?.[1];
  await expect.poll(urlOf, POLL).toBeDefined();
  const started = { child, log: () => log, ended, ask: askOf(urlOf() ?? "") };
  running.push(started);
  return started;
}

const turnOf = (turnId: string) => ({
  turnId,
  payer: chain.payers[0]?.address,
  outcome: "delivered",
  modelCostUsd: "0.01",
  tools: [{ toolId: uuidFromToolId(chain.tools[0]?.toolId ?? "0x"), amountUsd: "0.10", calls: 1 }],
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
    await expect.poll(() => statesOf(first, "before"), POLL).toEqual(["final", "final"]);
    // It waits, because the first holds the lease of the only key.
    const second = await startProcess({ ...environment, SETTLEMENT_HOLDER: "second" });
    await expect.poll(async () => (await second.ask("GET", "/ready")).text, POLL).toContain("rounds end");

    first.child.kill("SIGTERM");
    expect(await first.ended).toEqual({ code: 0, signal: null });
    expect(first.log()).toContain('"event":"draining"');
    expect(first.log()).toContain('"event":"stopped"');
    expect(second.log()).not.toContain('"event":"sent"');

    const handedOverAtMs = Date.now();
    await second.ask("POST", "/v1/turns", turnOf("after"));
    await expect.poll(() => statesOf(second, "after"), POLL).toEqual(["final", "final"]);
    // A lease that was not given back would take 30 seconds to run out.
    expect(Date.now() - handedOverAtMs).toBeLessThan(15_000);
    second.child.kill("SIGTERM");
    expect(await second.ended).toEqual({ code: 0, signal: null });
    expect(second.log()).toContain('"event":"sent"');
    for (const { log } of [first, second]) expect(log()).not.toContain(PASSWORD);
  } finally {
    await store.remove();
  }
});

it("a second signal ends a daemon that cannot finish draining, and the next one goes on from its ledger", async () => {
  const environment = { ...common, SETTLEMENT_LEDGER: join(folder, "signals.db"), SETTLEMENT_HOLDER: "signals" };
  const daemon = await startProcess(environment);
  await expect.poll(async () => (await daemon.ask("GET", "/ready")).text, POLL).toContain("rounds end");
  clearInterval(mining);
  chain.process.kill("SIGSTOP");
  try {
    // The chain does not answer any more, so the round that runs, and the last one, wait for it.
    expect(await daemon.ask("POST", "/v1/turns", turnOf("cut-off"))).toMatchObject({ status: 200 });
    daemon.child.kill("SIGTERM");
    await expect.poll(daemon.log, POLL).toContain('"event":"draining"');
    expect(daemon.child.exitCode).toBeNull();
    const secondAtMs = Date.now();
    daemon.child.kill("SIGTERM");
    expect(await daemon.ended).toEqual({ code: 1, signal: null });
    expect(Date.now() - secondAtMs).toBeLessThan(2_000);
    expect(daemon.log()).not.toContain('"event":"stopped"');
  } finally {
    chain.process.kill("SIGCONT");
    mining = setInterval(() => void chain.rpc("anvil_mine", ["0x1"]).catch(() => undefined), 100);
  }
  const next = await startProcess(environment);
  await expect.poll(() => statesOf(next, "cut-off"), POLL).toEqual(["final", "final"]);
  next.child.kill("SIGTERM");
  expect(await next.ended).toEqual({ code: 0, signal: null });
});

it("a copy that was made beside a running daemon can take the ledger's place", async () => {
  const path = join(folder, "drill.db");
  const environment = {
    ...common,
    SETTLEMENT_LEDGER: path,
    SETTLEMENT_FROM_BLOCK: `${await chain.provider.getBlockNumber()}`,
  };
  const daemon = await startProcess(environment);
  await daemon.ask("POST", "/v1/turns", turnOf("kept"));
  await expect.poll(() => statesOf(daemon, "kept"), POLL).toEqual(["final", "final"]);
  const copy = join(folder, "copy.db");
  expect(await settleCommand(["backup", copy], environment)).toMatchObject({ code: 0 });
  expect(await settleCommand(["backup", copy], environment)).toMatchObject({
    code: 1,
    err: expect.stringContaining("exists; name a new file"),
  });
  daemon.child.kill("SIGTERM");
  await daemon.ended;
  const before = JSON.parse((await settleCommand(["status", "--json"], environment)).out);

  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  copyFileSync(copy, path);
  expect(JSON.parse((await settleCommand(["status", "--json"], environment)).out)).toEqual(before);
  expect(await settleCommand(["audit"], environment)).toMatchObject({ code: 0 });
});

it("a new operator key is written encrypted, and only its address is shown", async () => {
  const path = join(folder, "new.json");
  const environment = { SETTLEMENT_KEYSTORE_PASSWORD_FILE: common.SETTLEMENT_KEYSTORE_PASSWORD_FILE };
  const made = await settleCommand(["keystore", "create", path], environment);
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/holds the key of 0x[0-9a-fA-F]{40}\n$/) });
  expect(await settleCommand(["keystore", "create", path], environment)).toMatchObject({ code: 1 });
  expect(await settleCommand(["keystore", "create", `${path}2`], {})).toMatchObject({
    code: 1,
    err: "SETTLEMENT_KEYSTORE_PASSWORD is missing, and so is SETTLEMENT_KEYSTORE_PASSWORD_FILE.\n",
  });
});
