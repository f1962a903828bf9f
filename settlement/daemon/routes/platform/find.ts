import type { Address, Hex } from "viem";
import { z } from "zod";
import type { Ledger } from "../../../ledger/ledger.ts";
import { chargeView } from "../../../views/charge.ts";
import { type Found, foundSchema } from "../../../views/found.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";

const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

export const findRoutes = [
  route({
    method: "GET",
    path: "/v1/find",
    access: "platform",
    summary: "What an id belongs to: a charge, a batch, a payer, or the charges of a turn or a call",
    query: z.strictObject({ id: field.text.trim() }),
    answer: foundSchema,
    async handle({ query: { id }, services: { ledger } }) {
      return { body: await find(ledger, id) };
    },
  }),
];

async function find(ledger: Ledger, id: string): Promise<Found> {
  // Lower case, as the ledger keeps them: the same hash and the same account are written in several ways.
  const lower = id.toLowerCase();
  const [charge, batch] = HASH.test(id)
    ? await Promise.all([ledger.findCharge(lower as Hex), ledger.findBatch(lower as Hex)])
    : [];
  const payer = ADDRESS.test(id) && (await isPayer(ledger, lower as Address)) ? lower : null;
  const [ofTurn, ofCall] = await Promise.all([
    ledger.listChargesOf({ turnId: id }),
    ledger.listChargesOf({ callId: id }),
  ]);
  const charges = [...(charge ? [charge] : []), ...ofTurn, ...ofCall];
  return { charges: charges.map(chargeView), batchId: batch?.batchId ?? null, payer };
}

// Every address could be one; these are known.
async function isPayer(ledger: Ledger, address: Address): Promise<boolean> {
  const known = await Promise.all([ledger.listNewestCharges(address, null, 1), ledger.listSessions(address, 1, 0)]);
  return known.some(({ length }) => length > 0);
}
