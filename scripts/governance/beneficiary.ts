import { ZeroAddress } from "ethers";
import { writeDeployment } from "../../settlement/deployment.ts";
import { parseAddress } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import type { Deployment } from "../command/openDeployment.ts";
import type { Session } from "../command/session.ts";
import { report } from "../command/transaction/send.ts";
import { environment } from "../config/environment.ts";
import { act, deliver, senderOf } from "./act.ts";

// The treasury belongs to the router, the insurance account to the registry of tools; both are replaced in the same way.
export type Seat = "treasury" | "insurance";

const NAMES = { treasury: "the treasury", insurance: "the insurance account" } as const;

export const holderOf = ({ router, staking }: Deployment, seat: Seat): Promise<string> =>
  seat === "treasury" ? router.treasury() : staking.insurance();

export const contractOf = ({ router, staking }: Deployment, seat: Seat) => (seat === "treasury" ? router : staking);

// The first step, by the admin: says who is to take the place.
export async function propose(session: Session, deployment: Deployment, seat: Seat, text: string): Promise<void> {
  const account = parseAddress("--propose", text);
  const holder = await holderOf(deployment, seat);
  if (account === holder) throw new CommandError(`${account} is ${NAMES[seat]} already: name another with --propose`);
  await act(session, deployment, {
    sentence: `Propose ${account} to take the place of ${holder} as ${NAMES[seat]}. It must accept.`,
    title: `propose ${NAMES[seat]}`,
    target: seat === "treasury" ? "router" : "staking",
    data: deployment.router.interface.encodeFunctionData("proposeBeneficiary", [account]),
    role: "admin",
    done: `Proposed. ${account} accepts with ${seat} --accept.`,
    document: { seat, account },
  });
}

// The second step, by the account itself, which shows that somebody can act for it.
export async function accept(session: Session, deployment: Deployment, seat: Seat): Promise<void> {
  const contract = contractOf(deployment, seat);
  const pending = await contract.pendingBeneficiary();
  if (pending === ZeroAddress) {
    throw new CommandError(
      `nobody has been proposed as ${NAMES[seat]}: run ${seat} --propose with the admin's key first`,
    );
  }
  const holder = await holderOf(deployment, seat);
  const sender = await senderOf(session, pending);
  const receipts = await deliver(session, sender, {
    sentence: `Take the place of ${holder} as ${NAMES[seat]}. What it was credited so far stays its own.`,
    calls: [
      {
        title: `accept to be ${NAMES[seat]}`,
        to: await contract.getAddress(),
        data: contract.interface.encodeFunctionData("acceptBeneficiary"),
      },
    ],
  });
  if (!receipts) return;
  const { record } = deployment;
  const path = writeDeployment(
    { ...record, parties: { ...record.parties, [seat]: sender } },
    environment.deploymentsFolder,
  );
  report(session, receipts, `${sender} is now ${NAMES[seat]}, and ${path} says so: commit it.`, {
    seat,
    account: sender,
  });
}
