import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PATIENTLY } from "../../../scripts/waiting/until.ts";
import { openLedger } from "../../../settlement/ledger/openLedger.ts";
import { settleCommand, settleInProcess } from "./testDaemon.ts";
import { useDaemon } from "./useDaemon.ts";

// The operator's commands, beside a daemon that runs.
describe("the command line beside a daemon", () => {
  const { ask, turnOf, untilFinal, place } = useDaemon();

  const settle = (...args: string[]) => settleInProcess(args, place().environment);

  it("helps with everything and with each command", async () => {
    expect(await settleCommand(["--help"], place().environment)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("reconcile"),
    });
    expect(await settle("doctor", "--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("Usage:") });
    expect(await settle("statu")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no command "statu"; did you mean status?'),
    });
    expect(await settle("status", "--nothing")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--nothing"),
    });
    expect(await settle("proof", "0x12")).toMatchObject({ code: 2 });
  });

  it("names what is missing in the configuration", async () => {
    const run = await settleInProcess(["status"], { ...place().environment, SETTLEMENT_LEDGER: undefined });
    expect(run).toMatchObject({ code: 1, stderr: "SETTLEMENT_LEDGER is missing.\n" });
  });

  it("makes no ledger where a path is mistyped, in which everything would be in order", async () => {
    const path = join(place().folder, "mistyped.db");
    for (const command of [["status"], ["drain"], ["audit"], ["backup", `${path}.copy`]]) {
      expect(await settleInProcess(command, { ...place().environment, SETTLEMENT_LEDGER: path })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("SETTLEMENT_LEDGER names it"),
      });
    }
    expect(existsSync(path)).toBe(false);
  });

  it("finds the ledger right beside a running daemon, and proves a charge", async () => {
    await ask("POST", "/v1/turns", turnOf("turn-1"));
    await untilFinal("turn-1");
    await expect
      .poll(async () => JSON.parse((await settle("status", "--json")).stdout).totals.pendingUsd, PATIENTLY)
      .toBe("0.00");
    expect(await settle("reconcile")).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing differs") });
    expect(await settle("audit")).toMatchObject({ code: 0, stdout: expect.stringContaining("the ledger is right") });
    const { charges } = (await ask("GET", "/v1/turns/turn-1")).body as unknown as { charges: { chargeId: string }[] };
    const proof = await settle("proof", charges[0]?.chargeId ?? "", "--json");
    expect(proof.code).toBe(0);
    expect(JSON.parse(proof.stdout)).toMatchObject({ settledAt: expect.any(String), path: expect.any(Array) });
  });

  it("lists and verifies the archive, proves a charge from it, and brings it back", async () => {
    const archive = join(place().folder, "archive");
    const withArchive = (...args: string[]) =>
      settleInProcess(args, { ...place().environment, SETTLEMENT_ARCHIVE: archive });
    expect(await withArchive("archive")).toMatchObject({ code: 0, stdout: "nothing is old enough\n" });
    expect(await withArchive("archive", "--list", "--verify")).toMatchObject({ code: 2 });
    expect(await settle("archive")).toMatchObject({
      code: 1,
      stderr: "SETTLEMENT_ARCHIVE is missing; it names the folder of the archive.\n",
    });

    await ask("POST", "/v1/turns", turnOf("turn-archived"));
    await untilFinal("turn-archived");
    const { charges } = (await ask("GET", "/v1/turns/turn-archived")).body as unknown as {
      charges: { chargeId: string }[];
    };
    // As if a month had passed.
    const ledger = await openLedger(place().environment.SETTLEMENT_LEDGER ?? "", { archive });
    const number = (await ledger.startArchive(Date.now() + 1_000, Date.now())) ?? 0;
    while ((await ledger.findUnfinishedArchive()) !== null) await ledger.moveArchived(number);
    await ledger.close();

    const listed = JSON.parse((await withArchive("archive", "--list", "--json")).stdout);
    expect(listed.archives).toMatchObject([{ number, state: "archived", charges: expect.any(Number) }]);
    expect(await withArchive("archive", "--verify")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("all 1 files are what was written"),
    });
    expect(await withArchive("audit")).toMatchObject({ code: 0 });
    const proof = await withArchive("proof", charges[0]?.chargeId ?? "", "--json");
    expect(proof.code).toBe(0);
    expect(JSON.parse(proof.stdout)).toMatchObject({ settledAt: expect.any(String), path: expect.any(Array) });
    expect(await settle("proof", charges[0]?.chargeId ?? "")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("SETTLEMENT_ARCHIVE must name the folder"),
    });

    expect(await withArchive("archive", "--restore", "99")).toMatchObject({
      code: 1,
      stderr: "There is no archive 99.\n",
    });
    expect(await withArchive("archive", "--restore", `${number}`)).toMatchObject({ code: 0 });
    expect(JSON.parse((await withArchive("archive", "--list", "--json")).stdout).archives).toEqual([]);
    expect(await settle("audit")).toMatchObject({ code: 0 });
    expect(await settle("proof", charges[0]?.chargeId ?? "")).toMatchObject({ code: 0 });
  });

  it("the doctor finds nothing wrong", async () => {
    const run = await settleCommand(["doctor", "--json"], place().environment);
    const { checks } = JSON.parse(run.stdout) as { checks: { name: string; ok: boolean; found: string }[] };
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(run.code).toBe(0);
    expect(checks.find(({ name }) => name === "USDC")?.found).toMatch(/^implementation 0x/);
  });

  it("the doctor says what the daemon would stumble over, and makes no ledger", async () => {
    const path = join(place().folder, "not yet.db");
    const run = await settleInProcess(["doctor"], {
      ...place().environment,
      SETTLEMENT_LEDGER: path,
      SETTLEMENT_SERVICE_TOKEN: undefined,
      SETTLEMENT_LISTEN: "192.0.2.1:8787",
    });
    expect(run.code).toBe(1);
    expect(run.stdout).toContain("FIX  service token: none is set — put one into SETTLEMENT_SERVICE_TOKEN");
    expect(run.stdout).toContain("192.0.2.1 is not an address of this machine; SETTLEMENT_LISTEN names another one");
    expect(run.stdout).toContain(`ok   new ledger: there is none at ${path} yet`);
    expect(existsSync(path)).toBe(false);
  });

  it("the doctor says what to do about a wrong chain", async () => {
    const run = await settleInProcess(["doctor"], { ...place().environment, SETTLEMENT_CHAIN_ID: "84532" });
    expect(run.code).toBe(1);
    expect(run.stdout).toContain("take it out of SETTLEMENT_RPC_URLS");
  });
});
