import { ZeroAddress } from "ethers";
import { formatUsd, microUsdc } from "../../settlement/domain/money.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { accept, propose } from "./beneficiary.ts";

type Arguments = CommonArguments & { propose: string | undefined; accept: boolean };

// `treasury`: who earns the protocol's share, what waits for it, and how another account takes its place.
export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  if (args.propose !== undefined) return propose(session, deployment, "treasury", args.propose);
  if (args.accept) return accept(session, deployment, "treasury");
  const { router } = deployment;
  const treasury = await router.treasury();
  const [credit, pending] = await Promise.all([router.creditOf(treasury), router.pendingBeneficiary()]);
  const creditUsd = formatUsd(microUsdc(credit));
  session.output.rows([
    ["treasury", treasury],
    ["to claim", `${creditUsd} USDC`],
    ["proposed", pending === ZeroAddress ? "nobody" : pending],
  ]);
  session.output.result({ treasury, creditUsd, proposed: pending === ZeroAddress ? null : pending });
});
