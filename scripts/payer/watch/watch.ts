import { setTimeout as pause } from "node:timers/promises";
import { sentenceOf } from "../../../settlement/domain/text/sentence.ts";
import { parseAmount, required } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { isUnreachable } from "../../command/isUnreachable.ts";
import { marketplaceUrl } from "../../command/marketplaceUrl.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import { printable } from "../../command/printable.ts";
import { accountOf, type CommonArguments, type Session, timeOf } from "../../command/session.ts";
import { environment } from "../../config/environment.ts";
import { createKeptReceipts } from "../../receipts/keptReceipts.ts";
import { act, type Terms } from "./act.ts";
import { createAskReceipts } from "./askReceipts.ts";
import { look, type Sight, type Watching } from "./look.ts";
import { createTeller, documentOf, isInOrder, summaryOf } from "./tell.ts";

type Arguments = CommonArguments &
  Record<"account" | "marketplace" | "receipts", string | undefined> &
  Record<"days" | "patience" | "least" | "every", string> & { contest: boolean; follow: boolean };

const SECONDS_PER_HOUR = 3_600n;
const SECONDS_PER_DAY = 86_400n;

// `watch`: checks from the chain and a marketplace's receipts all that a payer was charged, and with --contest demands back what is
// wrong. It ends with an error as long as something is.
export default command<Arguments>(async (args, session) => {
  const days = wholeNumber("--days", args.days);
  const every = wholeNumber("--every", args.every);
  const patience = BigInt(wholeNumber("--patience", args.patience)) * SECONDS_PER_HOUR;
  const least = parseAmount("--least", args.least);
  if (args.follow && args.json) throw new CommandError("--follow goes on and --json is one document: leave one out");
  if (args.follow && args.contest && !session.yes) throw new CommandError("--follow asks no questions: add --yes");
  const apiKey = required("MARKETPLACE_API_KEY", environment.marketplaceApiKey);
  const url = marketplaceUrl(session, args.marketplace);
  const deployment = await openDeployment(session);
  const payer = await accountOf(session, args.account);
  const { receiptCourt, record } = deployment;
  const terms: Terms = {
    contest: await receiptCourt.CONTEST_WINDOW(),
    deposit: await receiptCourt.DEPOSIT(),
    patience,
    least,
  };
  const since = (await timeOf(session)) - BigInt(days) * SECONDS_PER_DAY;
  const watching: Watching = {
    session,
    deployment,
    payer,
    fromBlock: await blockAt(session, since, record.contracts.router.block),
    known: new Map(),
    kept: createKeptReceipts(args.receipts),
    least,
  };
  // Whoever goes on for weeks is asked for a password now, and not when there is something to contest.
  if (args.contest) await session.signer();
  const teller = createTeller(session.output, terms);
  session.output.say(`What ${payer} was charged in ${days} days:`);

  // One look, and what follows from it.
  async function tick(): Promise<{ sight: Sight; failed: string[] }> {
    const askReceipts = createAskReceipts({ url: url.origin, apiKey });
    const sight = await look(watching, askReceipts);
    teller.tell(sight, await timeOf(session));
    if (!args.contest) return { sight, failed: [] };
    const { sent, failed } = await act(session, deployment, payer, sight, terms);
    // A document has them at its end.
    if (!args.json) for (const failure of failed) session.output.fail(sentenceOf(failure));
    if (sent === 0) return { sight, failed };
    const after = await look(watching, askReceipts);
    teller.tell(after, await timeOf(session));
    return { sight: after, failed };
  }

  if (!args.follow) {
    const { sight, failed } = await tick();
    if (!isInOrder(sight)) throw new CommandError(summaryOf(sight, args.contest), documentOf(payer, sight, failed));
    session.output.say(summaryOf(sight, args.contest));
    session.output.result(documentOf(payer, sight, failed));
    return;
  }
  const stopped = new AbortController();
  process.once("SIGINT", () => stopped.abort());
  process.once("SIGTERM", () => stopped.abort());
  while (!stopped.signal.aborted) {
    // Whatever stops one look, the next may succeed: a node that is overloaded, behind or in the middle of a reorg answers with
    // errors of all kinds, and a payer whose watch has ended loses what it does not contest in time.
    await tick().catch((error: unknown) => session.output.fail(sentenceOf(failureOf(error))));
    await pause(every * 1_000, undefined, { signal: stopped.signal }).catch(() => undefined);
  }
});

function failureOf(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (isUnreachable(error)) return "the network's node does not answer";
  return `looking failed, and goes on: ${printable(error instanceof Error ? error.message : String(error))}`;
}

function wholeNumber(option: string, text: string): number {
  if (!/^[0-9]{1,6}$/.test(text) || Number(text) === 0) {
    throw new CommandError(`${option} is "${text}": write a whole number from 1 on`);
  }
  return Number(text);
}

// The first block at or after a time, or the one from which on there is anything to see.
async function blockAt({ provider }: Session, time: bigint, first: number): Promise<number> {
  let [low, high] = [first, await provider.getBlockNumber()];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const block = await provider.getBlock(middle);
    if (BigInt(block?.timestamp ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
