import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import type { TransactionReceipt, TransactionResponse } from "ethers";
import { CommandError } from "../CommandError.ts";
import { confirm } from "../confirm.ts";
import { isUnreachable } from "../isUnreachable.ts";
import type { Json, Row } from "../output.ts";
import type { Session } from "../session.ts";
import { formatEth, gasCost } from "./gasCost.ts";
import { type Call, requireSuccess, simulate } from "./simulate.ts";
import { untilIncluded } from "./untilIncluded.ts";

// What a command is about to do: the sentence that the person confirms, and the calls that do it, in order.
export type Intent = { sentence: string; rows?: readonly Row[]; calls: readonly Call[] };

// States the intent, simulates it, shows its cost, asks, and only then sends.
export async function send(session: Session, intent: Intent): Promise<TransactionReceipt[]> {
  const { output, network, chainId, provider } = session;
  const signer = await session.signer();
  output.say(intent.sentence);
  await refuseWhilePending(session, signer.address);
  const gas = requireSuccess(await simulate(provider, signer.address, intent.calls));
  const cost = await gasCost(provider, intent.calls, gas);
  const steps: Row[] = intent.calls.length > 1 ? intent.calls.map(({ title }, i) => [`step ${i + 1}`, title]) : [];
  output.rows([
    ["network", `${network} (chain ${chainId})`],
    ["from", signer.address],
    ...(intent.rows ?? []),
    ...steps,
    [
      "gas",
      `at most ${formatEth(cost)}${gas.length < intent.calls.length ? " for step 1, all that this node can simulate" : ""}`,
    ],
  ]);
  const balance = await provider.getBalance(signer.address);
  if (balance < cost) {
    throw new CommandError(
      `${signer.address} has ${formatEth(balance)} and this can cost ${formatEth(cost)}: ` +
        `send it at least ${formatEth(cost - balance)} on ${network}`,
    );
  }
  await confirm(session, intent.calls.length > 1 ? `Send ${intent.calls.length} transactions?` : "Send it?");
  const receipts: TransactionReceipt[] = [];
  for (const call of intent.calls) receipts.push(await sendCall(session, signer, call));
  return receipts;
}

// A transaction of an earlier run that has not been included yet could do the same thing as this one.
async function refuseWhilePending({ provider }: Session, address: string): Promise<void> {
  const [included, pending] = await Promise.all([
    provider.getTransactionCount(address, "latest"),
    provider.getTransactionCount(address, "pending"),
  ]);
  if (pending === included) return;
  throw new CommandError(
    `a transaction of ${address} is still on its way into a block: wait for it and run the command again`,
  );
}

async function sendCall(session: Session, signer: HardhatEthersSigner, call: Call): Promise<TransactionReceipt> {
  const { output } = session;
  const transaction = await submit(session, signer, call);
  let stop = () => {};
  const interrupted = () => {
    stop();
    output.fail(`Stopped waiting. The transaction ${transaction.hash} was sent and goes on without this command.`);
    process.exit(130);
  };
  process.once("SIGINT", interrupted);
  stop = output.progress(`${call.title}: sent ${transaction.hash}, waiting for a block`);
  try {
    const receipt = await untilIncluded(session.provider, transaction.hash);
    if (receipt === null) {
      throw new CommandError(
        `the node no longer knows ${transaction.hash}, which was to ${call.title}: it was dropped, so run the command again`,
      );
    }
    if (receipt.status !== 1) throw await failureOf(session, signer.address, call, transaction.hash);
    return receipt;
  } finally {
    process.removeListener("SIGINT", interrupted);
    stop();
  }
}

// A later step is tried again just before it is sent, on a chain that may have changed since the question.
async function submit(session: Session, signer: HardhatEthersSigner, call: Call): Promise<TransactionResponse> {
  session.sending = true;
  try {
    const transaction = await signer.sendTransaction({ to: call.to, data: call.data });
    session.sent.push(transaction.hash);
    session.sending = false;
    return transaction;
  } catch (error) {
    // No answer is not a no.
    if (isUnreachable(error)) throw error;
    session.sending = false;
    requireSuccess(await simulate(session.provider, signer.address, [call]));
    throw error;
  }
}

// The chain keeps no reason with a failed transaction; the same call, tried again, usually gives it.
async function failureOf(session: Session, from: string, call: Call, hash: string): Promise<CommandError> {
  const simulation = await simulate(session.provider, from, [call]);
  const reason = simulation.ok ? "it would succeed now, so run the command again" : simulation.reason;
  return new CommandError(`${call.title} failed in transaction ${hash}: ${reason}`);
}

// How a command ends: a sentence and the transactions for people, the same as a document for machines.
export function report(
  { output, settings }: Session,
  receipts: readonly TransactionReceipt[],
  sentence: string,
  document: { [key: string]: Json },
): void {
  output.say(sentence);
  output.rows(
    receipts.map(({ hash, blockNumber }) => [
      "transaction",
      `${hash} in block ${blockNumber}${settings.explorer ? `, ${settings.explorer}/tx/${hash}` : ""}`,
    ]),
  );
  output.result({
    ...document,
    transactions: receipts.map(({ hash, blockNumber, gasUsed }) => ({
      hash,
      block: blockNumber,
      gasUsed: gasUsed.toString(),
    })),
  });
}
