import { z } from "zod";
import { canonicalJson, judgeAnswer, type SignedAnswer } from "../../marketplace/toolkit/index.ts";
import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import { openCourt } from "./openCourt.ts";
import { readJson } from "./readJson.ts";

type Arguments = CommonArguments & { court: string | undefined; file: string };

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

const bytesOf = (value: unknown) => `0x${Buffer.from(canonicalJson(value), "utf8").toString("hex")}`;

export default command<Arguments>(async (args, session) => {
  const { schema, content, answer } = readEvidence(args.file);
  const verdict = judgeAnswer(schema, content);
  if (verdict === "valid") throw new CommandError("the answer matches its schema: there is nothing to convict");
  const { court, address } = await openCourt(session, args.court);
  const { signature, toolId: uuid, ...signed } = answer;
  const toolId = toolIdFromUuid(uuid);
  const parts = [{ ...signed, toolId }, bytesOf(schema), bytesOf(content), signature] as const;
  const bounty = formatUsd(microUsdc(await court.BOUNTY()));
  const receipts = await send(session, {
    sentence: `Convict tool ${uuid} of its answer to "${answer.method}", which does not match its schema.`,
    rows: [["bounty", `${bounty} USDC`]],
    calls: [
      {
        title: `convict tool ${uuid}`,
        to: address,
        data: court.interface.encodeFunctionData("convict", parts as never),
      },
    ],
  });
  report(session, receipts, `Convicted. ${bounty} USDC are yours: collect them with claim.`, {
    tool: uuid,
    chargeId: answer.chargeId,
    bountyUsd: bounty,
  });
});

function readEvidence(path: string): { schema: unknown; content: unknown; answer: SignedAnswer } {
  const parsed = evidence.safeParse(readJson("the evidence", path));
  if (parsed.success) return parsed.data as { schema: unknown; content: unknown; answer: SignedAnswer };
  const field = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new CommandError(`${path} has no ${field} that makes sense: it needs schema, content and the signed answer`);
}
