import type { Address, Hex } from "viem";
import { following } from "../../chain/router/settleCall.ts";
import type { Signer } from "../../chain/signer/signer.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { SettlementError } from "../../domain/errors.ts";
import { larger } from "../../domain/money.ts";
import type { Lease } from "../../ledger/ledger.ts";
import { stillFollows } from "../batch/previousBatch.ts";
import type { EngineContext } from "../context.ts";
import { type Fees, marketFees } from "./fees.ts";
import { type GasLimit, gasLimitOf } from "./gasLimit.ts";
import { gasOfJudges } from "./gasOfJudges.ts";
import { send } from "./send.ts";

export type SubmitOutcome =
  | { kind: "sent" }
  // Taken apart; its charges are due again. `smaller` asks for fewer rows next time.
  | { kind: "unplanned"; smaller: boolean }
  // An answer that the court would not take.
  | { kind: "dropped"; reason: string }
  // The chain has it already; confirming finds it.
  | { kind: "already_settled" }
  | { kind: "hold"; reason: string };

// An empty transfer, with some room.
const FILLER_GAS = 50_000n;

// Takes a planned submission to the network: simulate, save the nonce, sign, save the bytes, send. Until something is
// signed it can still be taken apart; from then on its rows and its nonce are fixed.
export async function submit(
  context: EngineContext,
  lease: Lease,
  signer: Signer,
  submission: Submission,
): Promise<SubmitOutcome> {
  const { ledger, chain, policy } = context;
  const isNew = submission.gasLimit === 0n;
  // All that is wanted of a filler is its nonce, which it spends whatever becomes of it: nothing that a simulation says, of an account
  // to which somebody has given code for instance, may keep it back.
  const simulated = isNew && submission.kind !== "filler";
  const known = isNew ? FILLER_GAS : submission.gasLimit;
  let needed: GasLimit = { least: known, worst: known };
  // One that has its gas was simulated before a crash; its place in the queue must be filled either way.
  if (simulated) {
    const calldata = await asIfItsTurnWereNow(context, submission);
    // What it was to follow has come to nothing, and it would with it; or it is settled itself, by a ledger of which this one is
    // a copy. Given up, that would be charged again.
    if (calldata === null) {
      if ((await chain.settledAt(submission.id, "latest")) !== 0n) return { kind: "already_settled" };
      await takeApart(context, lease, submission, []);
      return { kind: "unplanned", smaller: false };
    }
    const simulation = await chain.simulate({ from: signer.address, to: submission.to, calldata });
    // Somebody has answered meanwhile, or its time is over. Nothing waits for it, and it must not be what everything waits for.
    if (submission.kind === "answer" && simulation.kind !== "ok") {
      await ledger.dropAnswer(lease, submission.id);
      return { kind: "dropped", reason: "reason" in simulation ? simulation.reason : simulation.kind };
    }
    switch (simulation.kind) {
      case "ok":
        needed = gasLimitOf(submission, simulation.gas, await gasOfJudges(chain, submission));
        break;
      case "already_settled":
        return { kind: "already_settled" };
      case "out_of_order":
        return { kind: "hold", reason: `batch ${simulation.head} was settled meanwhile` };
      case "unavailable":
        return { kind: "hold", reason: simulation.reason };
      case "operator_refused":
        await takeApart(context, lease, submission, []);
        return { kind: "hold", reason: simulation.reason };
      case "row_breaks":
        await takeApart(context, lease, submission, [simulation.payer]);
        context.report({
          kind: "row_set_aside",
          payer: simulation.payer,
          reason: "the token refuses it without a reason",
        });
        return { kind: "unplanned", smaller: false };
      case "too_large":
      case "reverts":
        return isolate(context, lease, submission, simulation.reason);
    }
  }

  const [head, tip] = await Promise.all([chain.head(), chain.priorityFee()]);
  // What is simulated without the margin may fit where it does not fit with it. Once signed, it could not be split.
  if (simulated && submission.kind === "settle" && needed.least > head.maxGas) {
    return isolate(context, lease, submission, `it needs ${needed.least} gas, and a transaction has ${head.maxGas}`);
  }
  const fees = marketFees(head.baseFeePerGas, tip, policy.maxFeePerGasCeiling);
  if (fees === null) {
    const asked = head.baseFeePerGas + tip;
    return { kind: "hold", reason: `the chain asks for ${asked} wei per gas, which is above the ceiling` };
  }
  const gasLimit = needed.worst > head.maxGas && simulated ? larger(needed.least, head.maxGas) : needed.worst;
  const numbered = await ledger.assignNonce(lease, submission.id, await firstNonce(context, lease), gasLimit);
  await send(context, await signAndSave(context, lease, signer, numbered, fees));
  return { kind: "sent" };
}

// Where a key begins that this ledger has never used. What is written down is asked of every endpoint, at a block that all have.
async function firstNonce({ ledger, chain }: EngineContext, { operator }: Lease): Promise<number> {
  const own = (await ledger.listOperators()).find((known) => known.operator === operator.toLowerCase());
  return own !== undefined && own.nextNonce > 0 ? 0 : chain.nonce(operator, "shared");
}

// The calldata of a batch with the chain's last batch in place of the one that it follows, which may not be mined yet: what
// it will do can be asked only of the state that there is. Null if nothing leads from there to what it follows.
async function asIfItsTurnWereNow({ ledger, chain }: EngineContext, submission: Submission): Promise<Hex | null> {
  if (submission.kind !== "settle") return submission.calldata;
  const head = await chain.headOf(submission.operator);
  const unmined = await ledger.listUnmined(submission.operator);
  return stillFollows(submission, head, unmined) ? following(submission.calldata, head) : null;
}

// Signs the submission on its nonce and saves the bytes. Nothing is sent that is not in the ledger.
export async function signAndSave(
  context: EngineContext,
  lease: Lease,
  signer: Signer,
  submission: Submission,
  fees: Fees,
): Promise<Submission> {
  const { ledger, chain, clock } = context;
  const { nonce, to, calldata, gasLimit } = submission;
  if (nonce === null) throw new SettlementError("invalid_input", `submission ${submission.id} has no nonce to sign`);
  context.reached("before_sign");
  const { raw, txHash } = await signer.sign({ chainId: chain.chainId, nonce, to, calldata, gasLimit, ...fees });
  context.reached("after_sign");
  const saved = await ledger.saveBroadcast(lease, submission.id, { raw, txHash, ...fees, signedAtMs: clock.nowMs() });
  context.reached("after_save");
  return saved;
}

// A batch that is too large, or reverts for no reason that names a row, is halved until one row is left, and that one is set aside: made
// again at once, it would come to nothing again, and would never have waited for long.
async function isolate(
  context: EngineContext,
  lease: Lease,
  submission: Submission,
  reason: string,
): Promise<SubmitOutcome> {
  if (submission.kind !== "settle") return { kind: "hold", reason };
  const batch = await context.ledger.findBatch(submission.id);
  const accounts = batch?.rows === 1 ? await context.ledger.listAccounts(submission.id) : [];
  for (const payer of accounts) context.report({ kind: "row_set_aside", payer, reason });
  await takeApart(context, lease, submission, accounts);
  return { kind: "unplanned", smaller: accounts.length === 0 };
}

function takeApart({ ledger, policy, clock }: EngineContext, lease: Lease, { id }: Submission, drop: Address[]) {
  return ledger.unplanBatch(lease, id, drop, policy.brokenRowWaitMs, clock.nowMs());
}
