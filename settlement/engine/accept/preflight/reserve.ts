import type { Address } from "viem";
import { SettlementError } from "../../../domain/errors.ts";
import type { CreditRefusal } from "../../../domain/payer/credit.ts";
import type { EngineContext } from "../../context.ts";
import type { Admission } from "../admission.ts";
import { creditReason, type Preflight, type Refusal } from "./preflight.ts";
import { settleAtOnce } from "./settleAtOnce.ts";
import { whileOutdated } from "./whileOutdated.ts";

// What the payer can spend was read before somebody else took of it, or somebody else has it by now.
type Missed =
  | { kind: "outdated"; takenAtBlock: bigint }
  | { kind: "unaffordable" }
  | ({ kind: "credit_exceeded" } & CreditRefusal);

// What a write comes to in the end.
export type Final<Outcome> = Exclude<Outcome, { kind: Missed["kind"] }>;

type Kinds = { kind: string };
type Spendable = Extract<Preflight, { code: "ok" }>["spendable"];

// What is to be reserved, as it is at present. Nobody is asked about what was reserved before: that is the same, whatever its payer can
// spend by now, and however much waits.
type Reservation<Answer extends Kinds> = {
  asks: {
    payer: Address;
    check: (notBefore: bigint) => Promise<Preflight>;
    refuse: (preflight: Refusal) => Answer;
  } | null;
  write: (funds: Spendable | null) => Promise<Answer | Missed>;
};

// Reserves what the payer can pay: the chain says what it can spend, and the ledger, under the payer's lock, whether that still holds.
// `look` finds what there is to reserve before each try, or the answer if there is nothing.
export async function reserve<Answer extends Kinds>(
  { ledger, clock }: Pick<EngineContext, "ledger" | "clock">,
  admission: Admission,
  look: () => Promise<Reservation<Answer> | { answer: Answer }>,
): Promise<Answer> {
  const reserved = await whileOutdated<Answer>(async (since) => {
    const found = await look();
    if ("answer" in found) return found;
    const { asks, write } = found;
    const preflight = asks === null ? null : await asks.check(since ?? 0n);
    if (asks !== null && preflight !== null && preflight.code !== "ok") {
      if (preflight.code === "credit_exceeded") await settleAtOnce({ ledger, clock }, asks.payer);
      return { answer: asks.refuse(preflight) };
    }
    const funds = preflight?.code === "ok" ? preflight.spendable : null;
    const written = await (asks === null ? write(null) : admission.write(1, () => write(funds)));
    if (!isMissed(written)) return { answer: written };
    if (written.kind === "outdated") return { outdatedSince: written.takenAtBlock };
    if (written.kind === "unaffordable" || preflight?.code !== "ok" || asks === null) {
      return { outdatedSince: since ?? 0n };
    }
    // What else the payer runs has used its credit since it was looked at.
    await settleAtOnce({ ledger, clock }, asks.payer);
    return { answer: asks.refuse({ code: written.kind, funds: preflight.funds, reason: creditReason(written) }) };
  });
  if (reserved !== null) return reserved;
  throw new SettlementError("chain_unavailable", "what the payer can spend changes too quickly to be known", {
    retryable: true,
  });
}

const MISSED: readonly string[] = ["outdated", "unaffordable", "credit_exceeded"] satisfies Missed["kind"][];

function isMissed<Answer extends Kinds>(written: Answer | Missed): written is Missed {
  return MISSED.includes(written.kind);
}
