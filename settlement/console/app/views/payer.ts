import type { Charge, Exposure, Session, Spendable } from "../api/answers.ts";
import { AskError, ask } from "../api/ask.ts";
import { h } from "../page/dom.ts";
import { facts, money, page, whole } from "../page/parts.ts";
import { view } from "../view.ts";
import { chargesTable } from "./charges.ts";
import { sessionsTable } from "./sessions.ts";

const PAGE = 20;

// Null while the chain does not answer.
type Data = {
  exposure: Exposure;
  spendable: Spendable | null;
  sessions: Session[];
  charges: Charge[];
};

export const payer = view<Data>({
  title: "Payer",
  needsLogin: true,
  async load({ id }) {
    const [exposure, spendable, { sessions }, { charges }] = await Promise.all([
      ask<Exposure>(`/v1/payers/${id}`),
      ask<Spendable>(`/v1/payers/${id}/spendable`).catch(unlessUnavailable),
      ask<{ sessions: Session[] }>(`/v1/sessions?payer=${id}&limit=${PAGE}`),
      ask<{ charges: Charge[] }>(`/v1/charges?payer=${id}&limit=${PAGE}`),
    ]);
    return { exposure, spendable, sessions, charges };
  },
  draw: ({ exposure, spendable, sessions, charges }) =>
    page(
      "Payer",
      h("p", { class: "subject" }, whole(exposure.payer)),
      spendable?.reason && h("p", { class: "verdict warn" }, spendable.reason),
      h(
        "section",
        { class: "panel" },
        facts([
          ["Could be charged now", spendable === null ? "–" : money(spendable.availableUsd)],
          ["Balance", spendable === null ? "–" : money(spendable.balanceUsd)],
          ["Paid in advance", spendable === null ? "–" : money(spendable.prepaidUsd)],
          ["Asked back of it", spendable === null ? "–" : money(spendable.refundingUsd)],
          ["Consent", spendable === null ? "–" : spendable.consentRequired ? "demands a signed budget" : "by its cap"],
          ["Spending cap", limit(spendable, "allowanceUsd")],
          ["Left of the daily cap", limit(spendable, "dailyCapLeftUsd")],
          ["Pending", money(exposure.pendingUsd)],
          ["Reserved by running calls", money(exposure.heldUsd)],
          ["Debt to the platform", money(exposure.debtUsd)],
          [
            "Statement",
            h(
              "a",
              { href: `/v1/payers/${exposure.payer}/statement?format=csv`, download: `${exposure.payer}.csv` },
              "CSV",
            ),
          ],
        ]),
      ),
      chargesTable("Newest charges", charges, { ofOne: true }),
      sessionsTable("Newest sessions", sessions, { ofOne: true }),
    ),
});

function limit(spendable: Spendable | null, key: "allowanceUsd" | "dailyCapLeftUsd") {
  if (spendable === null) return "–";
  const amountUsd = spendable[key];
  return amountUsd === null ? "without limit" : money(amountUsd);
}

function unlessUnavailable(error: unknown): null {
  if (error instanceof AskError && error.status !== null && error.status >= 500) return null;
  throw error;
}
