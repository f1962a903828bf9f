import type { Address, Hex } from "viem";
import { z } from "zod";
import type { Ledger } from "../../../ledger/ledger.ts";
import { route } from "../../route.ts";
import { chargeView } from "../../views.ts";

const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

export const findRoutes = [
  route({
    method: "GET",
    path: "/v1/find",
    access: "platform",
    summary: "What an id belongs to: a charge, a batch, a payer, or the charges of a turn or a call",
    query: z.strictObject({
      id: z
        .string("has to be a text")
        .trim()
        .min(1, "has to have 1 to 200 characters")
        .max(200, "has to have 1 to 200 characters"),
    }),
    async handle({ query: { id }, services: { ledger } }) {
      return { body: await find(ledger, id) };
    },
  }),
];

async function find(ledger: Ledger, id: string) {
  const [charge, batch] = HASH.test(id) ? await Promise.all([ledger.charge(id as Hex), ledger.batch(id as Hex)]) : [];
  const payer = ADDRESS.test(id) && (await isPayer(ledger, id as Address)) ? id.toLowerCase() : null;
  const [ofTurn, ofCall] = await Promise.all([ledger.chargesOf({ turnId: id }), ledger.chargesOf({ callId: id })]);
  const charges = [...(charge ? [charge] : []), ...ofTurn, ...ofCall];
  return { charges: charges.map(chargeView), batch: batch?.root ?? null, payer };
}

// Every address could be one; these are known.
async function isPayer(ledger: Ledger, address: Address): Promise<boolean> {
  const known = await Promise.all([ledger.newestCharges(address, null, 1), ledger.sessionsOfPayer(address, 1, 0)]);
  return known.some(({ length }) => length > 0);
}
