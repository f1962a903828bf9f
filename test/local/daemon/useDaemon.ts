import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import type { Environment } from "../../../settlement/config.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { mineBlocks } from "../world/mineBlocks.ts";
import { writeKeystore } from "../world/writeKeystore.ts";
import { environmentOf, SERVICE_TOKEN, startTestDaemon, type TestDaemon } from "./testDaemon.ts";

export const PASSWORD = "the keystore's password";
export const NOBODY = "0x00000000000000000000000000000000000000ff";

export type DaemonPlace = {
  world: LocalWorld;
  // A place for ledgers and keys, removed at the end.
  folder: string;
  daemon: TestDaemon;
  // What the operator's commands are told, to work beside the daemon.
  environment: Environment;
};

// A funded marketplace with a daemon that settles, for all tests of a file, and what they say to it over and over.
export function useDaemon() {
  let place: DaemonPlace;
  let mining: ReturnType<typeof mineBlocks> | undefined;
  const secrets: string[] = [SERVICE_TOKEN, PASSWORD];

  beforeAll(async () => {
    const folder = mkdtempSync(join(DISKLESS, "daemon-"));
    const world = await startWorld({ tools: 2, payers: 4, operators: 2 });
    mining = mineBlocks(world, { everyMs: 100 });
    const keystore = join(folder, "operator.json");
    const privateKey = world.operators[0]?.privateKey ?? "0x";
    await writeKeystore(keystore, privateKey, PASSWORD);
    const environment = {
      ...(await environmentOf(world, join(folder, "ledger.db"))),
      SETTLEMENT_KEYSTORES: keystore,
      SETTLEMENT_KEYSTORE_PASSWORD: PASSWORD,
    };
    const daemon = await startTestDaemon(world, join(folder, "ledger.db"), { operators: 1 });
    secrets.push(privateKey);
    place = { world, folder, daemon, environment };
  });

  afterAll(async () => {
    await place?.daemon.stop();
    await mining?.stop();
    await place?.world.stop();
    if (place !== undefined) rmSync(place.folder, { recursive: true, force: true });
  });

  const ask: TestDaemon["ask"] = (...request) => place.daemon.ask(...request);
  const payerOf = (n: number) => (place.world.payers[n]?.address ?? "").toLowerCase() as Address;
  const toolOf = (n: number) => uuidFromToolId(place.world.tools[n]?.toolId ?? "0x");
  const turnOf = (turnId: string, payer = payerOf(0)) => ({
    turnId,
    payer,
    outcome: "delivered",
    modelCostUsd: "0.012345",
    tools: [{ toolId: toolOf(0), amountUsd: "0.10", calls: 3 }],
  });
  const callOf = (callId: string, sessionId: string, priceUsd = "0.001") => ({
    callId,
    sessionId,
    toolId: toolOf(1),
    method: "quote",
    priceUsd,
  });

  // What only requests change and settlement does not, to show that a refused request has changed nothing.
  async function totals() {
    const { totals: sums } = (await ask("GET", "/v1/status")).body as unknown as { totals: Record<string, string> };
    return { accruedUsd: sums.accruedUsd, voidedUsd: sums.voidedUsd };
  }

  // Waits until every charge of a turn is final.
  const untilFinal = (turnId: string) =>
    until(`${turnId} to be final`, async () => {
      const { body } = await ask("GET", `/v1/turns/${turnId}`);
      return (body as unknown as { charges: { state: string }[] }).charges.every(({ state }) => state === "final");
    });

  return {
    place: () => place,
    // Whatever must never be in a log.
    secrets,
    ask,
    payerOf,
    toolOf,
    turnOf,
    callOf,
    totals,
    untilFinal,
  };
}
