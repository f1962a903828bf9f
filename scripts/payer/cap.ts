import { writeFileSync } from "node:fs";
import { formatUsd, type MicroUsdc, microUsdc } from "../../settlement/domain/money.ts";
import { parseAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { confirm } from "../command/confirm.ts";
import { formatCap } from "../command/format.ts";
import { type Deployment, openDeployment } from "../command/openDeployment.ts";
import { accountOf, type CommonArguments, type Session } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import type { Call } from "../command/transaction/simulate.ts";
import { requirePermitPath, signPermit } from "./permit.ts";

type Arguments = CommonArguments & {
  set: string | undefined;
  raise: string | undefined;
  lower: string | undefined;
  permit: string | undefined;
  account: string | undefined;
};

type Change = { kind: "set" | "raise" | "lower"; amount: MicroUsdc };

// `cap`: the spending cap is the USDC allowance of the router. It can be shown, or changed by a transaction of the
// payer's own, or by a permit that the payer signs and somebody else sends.
export default command<Arguments>(async (args, session) => {
  const change = readChange(args);
  if (args.permit !== undefined) requirePermitPath(args.permit);
  const deployment = await openDeployment(session);
  if (!change) return show(session, deployment, await accountOf(session, args.account ?? args.from));
  const payer = (await session.signer()).address;
  const current = await deployment.usdc.allowance(payer, deployment.addresses.router);
  const next = nextCap(current, change);
  if (args.permit !== undefined) return writePermit(session, deployment, next, args.permit);
  const receipts = await send(session, {
    sentence: `Change the spending cap of ${payer} from ${formatCap(current)} to ${formatCap(next)}.`,
    calls: [callOf(deployment, change)],
  });
  const cap = await deployment.usdc.allowance(payer, deployment.addresses.router);
  report(session, receipts, `The spending cap is now ${formatCap(cap)}.`, { payer, capUsd: formatUsd(microUsdc(cap)) });
});

function readChange(args: Arguments): Change | undefined {
  const given = (["set", "raise", "lower"] as const).flatMap((kind) => {
    const text = args[kind];
    return text === undefined ? [] : [{ kind, amount: parseAmount(`--${kind}`, text) }];
  });
  if (given.length > 1) throw new CommandError("only one of --set, --raise and --lower can be done at a time");
  if (given.length === 0 && args.permit !== undefined) {
    throw new CommandError("a permit needs a cap: add --set and the amount");
  }
  return given[0];
}

function nextCap(current: bigint, { kind, amount }: Change): MicroUsdc {
  if (kind === "set") return amount;
  if (kind === "raise") return microUsdc(current + amount);
  if (amount <= current) return microUsdc(current - amount);
  throw new CommandError(`the cap is only ${formatCap(current)}: use --set 0 to take it away`);
}

// Raising and lowering are relative on chain too, so that a charge between the look and the change is not undone.
function callOf({ usdc, record, addresses }: Deployment, { kind, amount }: Change): Call {
  const method = ({ set: "approve", raise: "increaseAllowance", lower: "decreaseAllowance" } as const)[kind];
  const data = usdc.interface.encodeFunctionData(method as "approve", [addresses.router, amount]);
  return { title: `${kind} the cap`, to: record.usdc, data };
}

async function show({ output }: Session, { usdc, addresses }: Deployment, payer: string): Promise<void> {
  const cap = await usdc.allowance(payer, addresses.router);
  output.say(`The spending cap of ${payer} is ${formatCap(cap)}.`);
  output.result({ payer, capUsd: formatUsd(microUsdc(cap)) });
}

async function writePermit(session: Session, deployment: Deployment, cap: MicroUsdc, path: string): Promise<void> {
  const { output } = session;
  const signer = await session.signer();
  output.say(`Sign a permit that sets the spending cap of ${signer.address} to ${formatCap(cap)}. It costs no gas.`);
  await confirm(session, "Sign it?");
  const permit = await signPermit(session, deployment, signer, cap);
  writeFileSync(path, `${JSON.stringify(permit, null, 2)}\n`);
  output.say(`Signed into ${path}. Anybody can send it within a day: send-permit ${path}`);
  output.result({ payer: signer.address, capUsd: formatUsd(cap), permit: path });
}
