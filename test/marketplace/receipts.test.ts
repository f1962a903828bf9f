import { text } from "node:stream/consumers";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NO_BATCH } from "../../settlement/chain/router/settleCall.ts";
import { spendableOf } from "../../settlement/chain/testing/spendableOf.ts";
import { NOTHING_UNDERWAY } from "../../settlement/engine/batch/draw.ts";
import { net } from "../../settlement/engine/batch/net.ts";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { leaseOf, RETRY, turnOf } from "../../settlement/ledger/testing/fixtures.ts";
import type { ReceiptsView } from "../../settlement/views/batches/receipts.ts";
import { DOMAIN, openDaemon } from "./openDaemon.ts";
import { makeKey, openMarketplace } from "./openMarketplace.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const lower = ({ address }: { address: string }) => address.toLowerCase() as Address;

describe.each(backends)("receipts at the marketplace, on $name,", ({ create }) => {
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  const [one, other, stranger] = [newWallet(), newWallet(), newWallet()];
  let batchId: Hex;

  beforeAll(async () => {
    database = await create();
    daemonStore = await create();
    daemon = await openDaemon(daemonStore);
    market = await openMarketplace(database, { daemonUrl: daemon.url });
    batchId = await settleTogether([one, other].map(lower));
  });
  afterAll(async () => {
    await market?.close();
    await daemon?.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  // One batch with a row of each, as the engine makes it.
  async function settleTogether(payers: readonly Address[]): Promise<Hex> {
    const { ledger } = daemon;
    for (const payer of payers) await ledger.recordTurn(turnOf(`of ${payer}`, { payer }), 1);
    const funds = new Map(
      payers.map((payer) => [payer, { ...spendableOf(payer, 10n ** 9n), refunding: 0n, isBeyondCredit: false }]),
    );
    const planned = await ledger.planBatch(
      await leaseOf(ledger),
      {
        accounts: payers,
        maxCharges: 100,
        router: DOMAIN.router,
        net: (charges) =>
          net(charges, funds, {
            ...{ maxRows: 10, maxLines: 10, maxCharges: 100, limit: 10n ** 9n, room: 10n ** 9n },
            ...{ previous: NO_BATCH, domain: DOMAIN, underway: NOTHING_UNDERWAY },
          }),
        retry: RETRY,
      },
      2,
    );
    return planned?.id ?? "0x";
  }

  const ask = async (wallet: typeof one) =>
    market.ask("GET", `/api/v1/batches/${batchId}/receipts`, undefined, await makeKey(market.ask, wallet));

  it("are those of the account whose key it is, and of no other in the same batch", async () => {
    for (const wallet of [one, other]) {
      const { status, body } = await ask(wallet);
      expect(status).toBe(200);
      const { payer, receipts } = body as unknown as ReceiptsView;
      expect(payer).toBe(lower(wallet));
      expect(receipts).not.toHaveLength(0);
      expect(new Set(receipts.map(({ chargedTo }) => chargedTo))).toEqual(new Set([lower(wallet)]));
      expect(new Set(receipts.map((receipt) => receipt.payer))).toEqual(new Set([lower(wallet)]));
    }
  });

  it("are not found by an account that was not charged in the batch, and not shown without a key", async () => {
    // Anybody may ask for any batch, so that this costs next to nothing.
    const [charges, receipts] = [vi.spyOn(daemon.ledger, "listChargesOfRow"), vi.spyOn(daemon.ledger, "listReceipts")];
    expect(await ask(stranger)).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(charges).not.toHaveBeenCalled();
    expect(receipts).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    expect(await market.ask("GET", `/api/v1/batches/${batchId}/receipts`)).toMatchObject({ status: 401 });
  });

  it("are handed on as they come, and read by nobody on the way", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const handedOn = await text(await market.settlement.receiptsOf(lower(one), batchId));
    const read = parse.mock.calls.filter(([json]) => json.includes("proofFlags"));
    parse.mockRestore();
    expect(read).toEqual([]);
    expect(JSON.parse(handedOn)).toEqual((await ask(one)).body);
  });

  it("that nobody can look up now are no 404, so that no watcher takes that for no receipts", async () => {
    const key = await makeKey(market.ask, one);
    daemon.state.away = true;
    try {
      expect(await market.ask("GET", `/api/v1/batches/${batchId}/receipts`, undefined, key)).toMatchObject({
        status: 503,
      });
    } finally {
      daemon.state.away = false;
    }
  });
});
