import type { TransactionReceipt } from "ethers";
import { z } from "zod";
import type { SignedAnswer } from "../../marketplace/toolkit/index.ts";
import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import { IPenalties__factory, type SchemaCourt } from "../../typechain-types/index.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments, Session } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import type { Call } from "../command/transaction/simulate.ts";
import { askJudge, bytesOf } from "./askJudge.ts";
import { findPaid } from "./findPaid.ts";
import { openCourt } from "./openCourt.ts";
import { readJson } from "./readJson.ts";

type Arguments = CommonArguments & { court: string | undefined; receipts: string | undefined; file: string };

const hash = z.string().regex(/^0x[0-9a-f]{64}$/i);

// All that a conviction needs: what the method promised, what it answered, and what the tool signed.
const evidence = z.object({
  schema: z.unknown(),
  content: z.unknown(),
  answer: z.object({
    toolId: z.string(),
    method: z.string(),
    chargeId: hash,
    requestHash: hash,
    answerHash: hash,
    schemaHash: hash,
    answeredAt: z.number().int().nonnegative(),
    signature: z.string().regex(/^0x[0-9a-f]+$/i),
  }),
});

export default command<Arguments>(async (args, session) => {
  const { schema, content, answer } = readEvidence(args.file);
  const { court, address } = await openCourt(session, args.court);
  const verdict = await askJudge(session, court, schema, content);
  if (verdict === "valid") throw new CommandError("the answer matches its schema: there is nothing to convict");
  if (verdict === "unknown") {
    throw new CommandError("the court cannot tell whether the answer matches its schema: it convicts nobody of that");
  }
  const { signature, toolId: uuid, ...signed } = answer;
  const toolId = toolIdFromUuid(uuid);
  const parts = [{ ...signed, toolId }, bytesOf(schema), bytesOf(content), signature] as const;
  const callOf = (title: string, data: string): Call => ({ title, to: address, data });
  const convict = callOf(`convict tool ${uuid}`, court.interface.encodeFunctionData("convict", parts as never));
  const back =
    args.receipts === undefined ? null : await refundOf(session, court, args.receipts, { ...signed, toolId });
  // Whoever comes for the refund alone finds the tool convicted.
  const isNew = back === null || (await court.convictedAt(toolId, answer.chargeId)) === 0n;
  const expected = isNew ? await bountyOf(session, court, toolId) : 0n;
  const sent = await send(session, {
    sentence: `Convict tool ${uuid} of its answer to "${answer.method}", which does not match its schema.`,
    rows: [
      ["bounty", `${usd(expected)} USDC`],
      ...(back === null ? [] : [["paid by", back.payer] as [string, string]]),
    ],
    calls: [...(isNew ? [convict] : []), ...(back === null ? [] : [callOf("give the call back", back.data)])],
  });
  const refunded = back === null ? null : refundIn(court, sent);
  const bounty = bountyIn(sent);
  const earned = bounty > 0n ? `${usd(bounty)} USDC are yours: collect them with claim.` : NO_BOUNTY;
  const sentences = [
    ...(isNew ? [`Convicted. ${earned}`] : []),
    ...(refunded === null ? [] : [`${refunded.payer} gets ${usd(refunded.amount)} USDC back: claim collects them.`]),
    ...(refunded === null || refunded.owed === 0n ? [] : [`${usd(refunded.owed)} USDC are owed: ask again in a day.`]),
  ];
  report(session, sent, sentences.join(" "), {
    tool: uuid,
    chargeId: answer.chargeId,
    bountyUsd: usd(bounty),
    ...(refunded && { refundUsd: usd(refunded.amount), owedUsd: usd(refunded.owed) }),
  });
});

const NO_BOUNTY = "The tool has lost what it can lose in a day, so that there is no bounty.";

const usd = (amount: bigint) => formatUsd(microUsdc(amount));

// What the reporter would get now: of a stake that may pay less than the penalty today, its part of that.
async function bountyOf(session: Session, court: SchemaCourt, toolId: string): Promise<bigint> {
  const [penalty, bounty, staking] = await Promise.all([court.PENALTY(), court.BOUNTY(), court.staking()]);
  const left = await IPenalties__factory.connect(staking, session.provider).penaltyLeft(toolId);
  return left >= penalty ? bounty : (left * bounty) / penalty;
}

function bountyIn(receipts: readonly TransactionReceipt[]): bigint {
  const penalties = IPenalties__factory.createInterface();
  const logs = receipts.flatMap((receipt) => receipt.logs).map((log) => penalties.parseLog(log));
  return logs.reduce((sum, parsed) => sum + (parsed?.name === "Penalized" ? (parsed.args.share as bigint) : 0n), 0n);
}

// The call that gives whoever paid for it its money back: all of it, or what was owed since the last time.
async function refundOf(
  session: Session,
  court: SchemaCourt,
  folder: string,
  { toolId, chargeId }: { toolId: string; chargeId: string },
): Promise<{ payer: string; data: string }> {
  const paid = await findPaid(session, await openDeployment(session), folder, { toolId, chargeId });
  const { operator } = paid.settlement;
  const payer = paid.receipt.chargedTo;
  const { owed } = await court.refundOf(toolId, chargeId, operator, payer);
  const data =
    owed > 0n
      ? court.interface.encodeFunctionData("collect", [toolId, chargeId, operator, payer])
      : court.interface.encodeFunctionData("refund", [toolId, chargeId, paid]);
  return { payer, data };
}

function refundIn({ interface: court }: SchemaCourt, receipts: readonly TransactionReceipt[]) {
  for (const log of receipts.flatMap(({ logs }) => logs)) {
    const parsed = court.parseLog(log);
    if (parsed?.name === "ChargeRefunded") {
      return {
        payer: parsed.args.payer as string,
        amount: parsed.args.amount as bigint,
        owed: parsed.args.owed as bigint,
      };
    }
  }
  return null;
}

function readEvidence(path: string): { schema: unknown; content: unknown; answer: SignedAnswer } {
  const parsed = evidence.safeParse(readJson("the evidence", path));
  if (parsed.success) return parsed.data as { schema: unknown; content: unknown; answer: SignedAnswer };
  const field = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new CommandError(`${path} has no ${field} that makes sense: it needs schema, content and the signed answer`);
}
