import { ZeroAddress } from "ethers";
import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { command } from "../../command/command.ts";
import { findTool } from "../../command/findTool.ts";
import { formatTime } from "../../command/format.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import { readLogs } from "../../command/readLogs.ts";
import { type CommonArguments, timeOf } from "../../command/session.ts";
import { refundRows } from "./slashTerms.ts";

export default command<CommonArguments & { tool: string }>(async (args, session) => {
  const { output, provider } = session;
  const deployment = await openDeployment(session);
  const { staking, record } = deployment;
  const { id, uuid } = await findTool(deployment, args.tool);
  const { executableAt, expiresAt, termsHash, bountyBps, vetoedUntil } = await staking.slashOf(id);
  if (expiresAt === 0n) {
    const vetoed = vetoedUntil > (await timeOf(session));
    output.say(`No slash of tool ${uuid} is proposed.`);
    if (vetoed) output.rows([["vetoed", `none can be proposed until ${formatTime(vetoedUntil)}`]]);
    output.result({ tool: uuid, slash: null, vetoedUntil: vetoed ? Number(vetoedUntil) : null });
    return;
  }
  const { address, block } = record.contracts.staking;
  const logs = await readLogs(provider, address, staking.interface.encodeFilterTopics("SlashProposed", [id]), block);
  const latest = logs.at(-1);
  if (!latest) throw new Error(`the node has no event for the proposed slash of ${uuid}`);
  const { terms } = staking.interface.decodeEventLog("SlashProposed", latest.data, latest.topics);
  const now = await timeOf(session);
  const state =
    now >= expiresAt ? "expired" : now >= executableAt ? "executable" : "waiting for the developer's answer";
  const refunds: { payer: string; amount: bigint }[] = terms.refunds.map(({ payer, amount }: RefundStruct) => ({
    payer,
    amount,
  }));
  output.say(`A slash of ${formatUsd(microUsdc(terms.amount))} USDC of tool ${uuid} is proposed.`);
  output.rows([
    ["state", state],
    ["executable", `from ${formatTime(executableAt)} to ${formatTime(expiresAt)}`],
    ["terms", termsHash],
    ["evidence", terms.evidenceHash],
    ["reporter", terms.reporter === ZeroAddress ? "nobody" : `${terms.reporter}, for ${bountyBps} basis points`],
    ...refundRows(refunds),
  ]);
  output.result({
    tool: uuid,
    slash: {
      state,
      termsHash,
      bountyBps: Number(bountyBps),
      amountUsd: formatUsd(microUsdc(terms.amount)),
      evidenceHash: terms.evidenceHash,
      reporter: terms.reporter === ZeroAddress ? null : terms.reporter,
      refunds: refunds.map(({ payer, amount }) => ({ payer, amountUsd: formatUsd(microUsdc(amount)) })),
      executableAt: Number(executableAt),
      expiresAt: Number(expiresAt),
    },
  });
});

type RefundStruct = { payer: string; amount: bigint };
