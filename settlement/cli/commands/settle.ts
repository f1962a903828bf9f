import { formatUsd, sumOf } from "../../domain/money.ts";
import { drawOf, exceeded, NOTHING_UNDERWAY } from "../../engine/batch/draw.ts";
import type { Command } from "../command.ts";
import { type Opened, withEngine } from "../withEngine.ts";

const MAX_ACCOUNTS = 500;

export const settle: Command = {
  name: "settle",
  usage: "[--dry-run]",
  help: [
    "With --dry-run it shows which accounts would be charged how much now, and who could not pay, and changes nothing.",
    "Without, it does one tick, as the daemon does every second; a running daemon's lease is respected.",
  ],
  options: { "dry-run": { type: "boolean" } },
  run: ({ values, output }) =>
    values["dry-run"] === true
      ? withEngine(output, { keys: false }, async (opened) => {
          const found = await preview(opened);
          for (const { account, charges, amountUsd, payable, reason } of found.accounts) {
            output.say(`${account}  ${charges} charges  ${amountUsd} USD${payable ? "" : `  not payable: ${reason}`}`);
          }
          output.say(`${found.accounts.length} accounts, ${found.payableUsd} USD payable`);
          if (found.holding !== null) output.say(`settlement holds: ${found.holding}`);
          return { exitCode: 0, value: found };
        })
      : withEngine(output, { keys: true }, async ({ engine, ledger }) => {
          await engine.tick({ atOnce: true });
          await engine.releaseLeases();
          const { pending } = await ledger.readTotals();
          output.say(`done; ${formatUsd(pending)} USD are pending`);
          return { exitCode: 0, value: { pendingUsd: formatUsd(pending) } };
        }),
};

async function preview({ ledger, chain }: Opened) {
  const due = await ledger.listDuePayers(Date.now(), MAX_ACCOUNTS);
  const spendable = await chain.spendable(due.map(({ chargedTo }) => chargedTo));
  const refunds = await chain.refunds(due.map(({ chargedTo }) => chargedTo));
  const availability = await chain.availability();
  const halted = await ledger.readHalt();
  const accounts = due.map(({ chargedTo, amount, charges }, i) => {
    const found = spendable[i];
    // Whichever source pays first, the same can be paid.
    const funds = found && { ...found, refunding: refunds[i]?.amount ?? 0n, isBeyondCredit: false };
    const draw = funds && drawOf(funds, { amount, least: amount }, NOTHING_UNDERWAY);
    const isBlocked = draw === undefined || (!draw.prepaid && (found?.amount ?? 0n) < amount);
    const reason = (draw && exceeded(draw, amount)) ?? (isBlocked ? "blocked" : null);
    return { account: chargedTo, charges, amountUsd: formatUsd(amount), payable: reason === null, reason };
  });
  return {
    accounts,
    payableUsd: formatUsd(sumOf(due.filter((_, i) => accounts[i]?.payable).map(({ amount }) => amount))),
    holding: halted?.reason ?? (availability.kind === "unavailable" ? availability.reason : null),
  };
}
