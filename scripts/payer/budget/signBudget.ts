import { readFileSync, writeFileSync } from "node:fs";
import type { Address } from "viem";
import { z } from "zod";
import { BUDGET_TYPES, budgetDomain } from "../../../settlement/chain/router/budgetDigest.ts";
import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { type Budget, MAX_BUDGET_TOOLS, MAX_VALID_UNTIL } from "../../../settlement/domain/payer/budget.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { budgetFields } from "../../../settlement/views/budget.ts";
import { requiredAmount } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { confirm } from "../../command/confirm.ts";
import { requireWritable } from "../../command/files.ts";
import { findTool } from "../../command/findTool.ts";
import { formatTime } from "../../command/format.ts";
import { type Deployment, openDeployment } from "../../command/openDeployment.ts";
import { type CommonArguments, type Session, timeOf } from "../../command/session.ts";
import { parseBudgetId } from "./budgetId.ts";

type Arguments = CommonArguments & {
  max: string | undefined;
  id: string | undefined;
  hours: string;
  tools: string | undefined;
  into: string | undefined;
};

const signedSchema = z.object({ budget: z.object({ id: z.string(), maxSpendUsd: z.string() }), signature: z.string() });

const HOUR = 3_600n;

// `budget sign`: what the payer agrees to, signed without gas. It goes with a request as `budget` and `signature`.
export default command<Arguments>(async (args, session) => {
  const maxSpend = requiredAmount("--max", args.max);
  if (maxSpend === 0n)
    throw new CommandError("--max is 0: budget end takes a budget back, and consent off does without");
  if (args.into !== undefined) requireWritable("--into", args.into, isSigned);
  const deployment = await openDeployment(session);
  const tools = await toolsIn(deployment, args.tools);
  const signer = await session.signer();
  const now = await timeOf(session);
  const budget: Budget = {
    payer: signer.address as Address,
    id: args.id === undefined ? now : parseBudgetId("--id", args.id),
    maxSpend,
    validUntil: now + hoursIn(args.hours),
    tools,
  };
  if (budget.validUntil > MAX_VALID_UNTIL) throw new CommandError("--hours is more than a budget can last");
  await requireRoom(deployment, budget);
  await sign(session, deployment, budget, args.into);
});

async function sign(session: Session, { addresses }: Deployment, budget: Budget, into: string | undefined) {
  const { output, chainId } = session;
  const signer = await session.signer();
  const scope = budget.tools.length === 0 ? "all tools" : `${budget.tools.length} tools`;
  const end = formatTime(budget.validUntil);
  output.say(
    `Sign that ${signer.address} pays at most ${formatUsd(budget.maxSpend)} USDC in all under budget ${budget.id}, ` +
      `until ${end} and for ${scope}. It costs no gas.`,
  );
  await confirm(session, "Sign it?");
  const domain = budgetDomain({ chainId: Number(chainId), router: addresses.router as Address });
  const { payer, id, maxSpend, validUntil, tools } = budget;
  const signature = await signer.signTypedData(
    domain,
    { Budget: [...BUDGET_TYPES.Budget] },
    { payer, id, maxSpend, validUntil, tools: [...tools] },
  );
  const signed = { budget: budgetFields(budget), signature };
  if (into !== undefined) writeFileSync(into, `${JSON.stringify(signed, null, 2)}\n`);
  const place = into === undefined ? "Send budget and signature" : `Signed into ${into}. Send what is in it`;
  output.say(`${place} with a request, and sign a higher --max with --id ${id} to raise it.`);
  if (into === undefined) output.say(JSON.stringify(signed));
  output.result({ payer, ...signed });
}

// What the chain would refuse is not worth a signature.
async function requireRoom({ router }: Deployment, { payer, id, maxSpend }: Budget): Promise<void> {
  const { budget } = await router.budgetOf(payer, id);
  if (budget.endsAt !== 0n) {
    throw new CommandError(`budget ${id} was ended: leave --id out, so that this is a new one`);
  }
  if (maxSpend <= budget.maxSpend) {
    const known = formatUsd(microUsdc(budget.maxSpend));
    throw new CommandError(`budget ${id} is for ${known} USDC already: a raise needs a higher --max`);
  }
}

// Each of them is there: nobody agrees to pay for what was mistyped.
async function toolsIn(deployment: Deployment, list = ""): Promise<ToolId[]> {
  const names = list.split(",").map((text) => text.trim());
  if (list === "") return [];
  if (names.length > MAX_BUDGET_TOOLS)
    throw new CommandError(`--tools names ${names.length}; the most is ${MAX_BUDGET_TOOLS}`);
  const found: ToolId[] = [];
  for (const name of names) found.push((await findTool(deployment, name)).id as ToolId);
  return found;
}

function hoursIn(text: string): bigint {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new CommandError(`--hours is "${text}": write a whole number, like 24`);
  return BigInt(text) * HOUR;
}

// A budget may take the place of another one, and of nothing else.
function isSigned(path: string): boolean {
  try {
    return signedSchema.safeParse(JSON.parse(readFileSync(path, "utf8"))).success;
  } catch {
    return false;
  }
}
