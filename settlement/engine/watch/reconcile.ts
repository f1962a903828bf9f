import type { Address, Hex } from "viem";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import { formatUsd, type MicroUsdc } from "../../domain/money.ts";
import { reconcileBatch } from "../confirm/reconcileBatch.ts";
import type { EngineContext } from "../context.ts";
import { checkHome } from "../submit/fence.ts";
import { adopt, findUnknown } from "./adopt.ts";
import { findGone, reopenVanished } from "./reopenVanished.ts";
import { introduce, retire } from "./retire.ts";

export type ReconcileOptions = {
  // How many of the newest batches are read from the chain again.
  batches: number;
  // Take in what our keys have settled without this ledger; put on its way again what the chain has undone; lift a halt if then
  // nothing differs.
  adopt?: boolean;
  // Calldata of batches to be taken in that no endpoint shows.
  calldata?: readonly Hex[];
  reopen?: boolean;
  // Give up a key that no process has any more.
  retire?: Address;
  // Fence off every key, because the ledger was taken back to an earlier moment and nothing in it shows that.
  fence?: boolean;
  resume?: boolean;
  say?: (line: string) => void;
  progress?: (text: string) => void;
};

export type Reconciliation = {
  differences: readonly string[];
  adopted: readonly { batchId: Hex; charges: number; unexplained: MicroUsdc }[];
  reopened: readonly { id: Hex; charges: number }[];
  retired: boolean;
  resumed: boolean;
};

// What a person does who looks at a ledger and a chain that may not agree.
export async function reconcile(context: EngineContext, options: ReconcileOptions): Promise<Reconciliation> {
  const { ledger } = context;
  const { say = () => {}, progress = () => {} } = options;
  // What comes after this has not been looked at, and halts on.
  const halt = await ledger.readHalt();
  const { moved } = await checkHome(context);
  if (moved !== null) {
    say(
      `the ledger was at ${moved.from} and is now at ${moved.to}; nothing is planned until the nonces of its keys are final`,
    );
  }
  if (options.fence) {
    await ledger.fenceOff();
    say("every key is fenced off; nothing is planned until the nonces are final on which something forgotten may wait");
  }
  if (options.retire !== undefined) await introduce(context, options.retire);
  const adopted = options.adopt ? await adoptAll(context, say, options.calldata ?? []) : [];
  const reopened = options.reopen ? await reopenAll(context, say) : [];
  const retired = options.retire !== undefined && (await retireKey(context, options.retire, say));
  const differences = [
    ...(await compare(context, options.batches, progress)),
    ...(await unknownOf(context)),
    ...(await vanishedOf(context)),
  ];
  for (const difference of differences) say(difference);
  say(differences.length === 0 ? "nothing differs" : `${differences.length} batches differ`);
  if (options.resume !== true || differences.length > 0 || halt === null) {
    return { differences, adopted, reopened, retired, resumed: false };
  }
  await ledger.resume(halt);
  say("the halt is lifted");
  return { differences, adopted, reopened, retired, resumed: true };
}

async function unknownOf(context: EngineContext): Promise<string[]> {
  const unknown = await findUnknown(context);
  return unknown.map(
    ({ batchId, operator, txHash, why, isFinal }) =>
      `batch ${batchId} in ${txHash} was settled by ${operator} and ${REASONS[why]}; ${wayOut(isFinal, "--adopt takes it in")}`,
  );
}

const REASONS = {
  not_in_ledger: "is not in the ledger",
  abandoned: "was given up by the ledger",
  other_rows: "has other rows in the ledger",
};

const wayOut = (isFinal: boolean, command: string) =>
  isFinal ? command : `once the chain calls it final ${command}, so wait and run this again`;

async function vanishedOf(context: EngineContext): Promise<string[]> {
  const vanished = await findGone(context);
  return vanished.map(
    ({ id, kind, blockNumber, blockHash, isFinal }) =>
      `${nameOf(kind)} ${id} was final in block ${blockNumber} as ${blockHash}, and the chain has undone it or never had it; ` +
      wayOut(isFinal, "--reopen puts it on its way again"),
  );
}

const nameOf = (kind: string) => (kind === "settle" ? "batch" : kind);

async function reopenAll(context: EngineContext, say: (line: string) => void) {
  const reopened: { id: Hex; charges: number }[] = [];
  for (const { id, kind, reopening } of await reopenVanished(context)) {
    const name = `${nameOf(kind)} ${id}`;
    if (reopening.kind === "not_final") continue;
    if (reopening.kind === "archived") {
      say(`${name} is in the archive; bring it back with archive --restore, and run this again`);
      continue;
    }
    const { charges } = reopening;
    say(
      reopening.kind === "reopened"
        ? `${name} is on its way again with ${charges} charges`
        : `${name} is given up, and its ${charges} charges are due again once the nonces of its key are final`,
    );
    reopened.push({ id, charges });
  }
  return reopened;
}

async function retireKey(context: EngineContext, operator: Address, say: (line: string) => void): Promise<boolean> {
  const retirement = await retire(context, operator);
  say(
    retirement.kind === "retired"
      ? `${operator} is retired; ${retirement.submissions} transactions of it are given up, and what they were to charge is due again`
      : `${operator} is not retired: ${retirement.reason}`,
  );
  return retirement.kind === "retired";
}

async function adoptAll(context: EngineContext, say: (line: string) => void, calldata: readonly Hex[]) {
  const broughtFor = new Map(calldata.map((call) => [decodeSettle(call).batchId, call]));
  const adopted: { batchId: Hex; charges: number; unexplained: MicroUsdc }[] = [];
  const unknown = (await findUnknown(context)).filter(({ isFinal }) => isFinal);
  for (const batch of unknown) {
    const adoption = await adopt(context, batch, unknown, broughtFor.get(batch.batchId));
    if (adoption?.kind === "hidden") {
      say(
        `batch ${batch.batchId} was settled from within a contract in ${batch.txHash}, and no endpoint shows with which calldata; ` +
          "trace that transaction elsewhere, save the calldata of the router's settle to a file, and give it to --calldata",
      );
      continue;
    }
    if (adoption?.kind === "busy") {
      say(`batch ${adoption.batchId} is still on its way; wait until it is final or abandoned, and run this again`);
      break;
    }
    if (adoption?.kind !== "adopted") continue;
    const { charges, unexplained } = adoption;
    say(
      `batch ${batch.batchId} is taken in: it paid ${charges} charges, and ${formatUsd(unexplained)} USDC that no charge explains`,
    );
    adopted.push({ batchId: batch.batchId, charges, unexplained });
  }
  return adopted;
}

async function compare(
  { ledger, chain }: EngineContext,
  limit: number,
  progress: (text: string) => void,
): Promise<string[]> {
  const differences: string[] = [];
  const batches = (await ledger.listBatches(limit, 0)).filter(({ state }) => state === "final" || state === "included");
  for (const [i, { batchId, inclusion }] of batches.entries()) {
    progress(`${i + 1} of ${batches.length} batches`);
    const submission = await ledger.findSubmission(batchId);
    const receipt = inclusion === null ? null : await chain.receipt(inclusion.txHash);
    if (submission === null || receipt === null) {
      differences.push(`batch ${batchId}: its transaction ${inclusion?.txHash} is not on chain`);
      continue;
    }
    const difference = reconcileBatch(submission, receipt.batches.get(batchId) ?? null);
    if (difference !== null) differences.push(`batch ${batchId} in ${receipt.txHash}: ${difference}`);
  }
  return differences;
}
