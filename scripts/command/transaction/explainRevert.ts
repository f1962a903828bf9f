import { AbiCoder, Interface, type Result, ZeroAddress } from "ethers";
import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import {
  ContextRouter__factory,
  OperatorBonds__factory,
  ProtocolAccess__factory,
  ReceiptCourt__factory,
  SchemaCourt__factory,
  ToolStaking__factory,
} from "../../../typechain-types/index.ts";
import { formatTime } from "../format.ts";

const interfaces = [
  ContextRouter__factory,
  ToolStaking__factory,
  OperatorBonds__factory,
  ReceiptCourt__factory,
  SchemaCourt__factory,
  ProtocolAccess__factory,
].map(({ abi }) => new Interface(abi));

const usd = (value: bigint) => `${formatUsd(microUsdc(value))} USDC`;

const missing = (stake: bigint, required: bigint) => usd(required - stake);

const MESSAGES: Record<string, (args: Result) => string> = {
  StakeTooLow: ([stake, required]) =>
    `the stake is ${usd(stake)} and ${usd(required)} are needed: add ${missing(stake, required)}, or choose a lower price`,
  ToolAlreadyListed: ([id]) => `tool ${uuidFromToolId(id)} is listed already: choose another --name`,
  ToolNotListed: ([id]) => `there is no tool ${uuidFromToolId(id)}: check the id with my-tools`,
  NotOwner: ([caller, owner]) => `the tool belongs to ${owner}, not to ${caller}: use its owner's key with --from`,
  InvalidPayout: ([payout]) => `nobody could ever claim earnings of ${payout}: name another --payout`,
  InvalidRecipient: ([to]) => `money sent to ${to} could never be reached again: name another account`,
  ZeroAmount: () => "the amount is zero: name a larger one",
  WithdrawalPending: ([amount, readyAt]) =>
    `${usd(amount)} are on their way out already, ready at ${formatTime(readyAt)}: run withdraw then, or cancel-withdrawal now`,
  NoWithdrawal: ([id]) =>
    `no withdrawal of tool ${uuidFromToolId(id)} has been requested: run request-withdrawal first`,
  WithdrawalExceedsStake: ([amount, stake]) => `${usd(amount)} are more than the stake of ${usd(stake)}: request less`,
  WithdrawalNotReady: ([, readyAt]) => `the withdrawal is ready at ${formatTime(readyAt)}: run withdraw then`,
  WithdrawalFrozen: ([, until]) =>
    `a proposed slash holds the withdrawal back until ${formatTime(until)} at the latest: see slash show`,
  NotBondOwner: ([caller, owner]) => `the bond belongs to ${owner}, not to ${caller}: use its owner's key with --from`,
  NoBondWithdrawal: ([operator]) => `nothing of the bond of ${operator} was asked back: run bond request first`,
  WithdrawalExceedsBond: ([amount, bond]) => `${usd(amount)} are more than the bond of ${usd(bond)}: ask for less`,
  BondNotReady: ([, readyAt]) => `the bond can leave from ${formatTime(readyAt)} on: run bond withdraw then`,
  BondTooLow: ([operator]) => `the bond of ${operator} is less than its limit asks for: run bond post`,
  NothingCharged: ([batchId, payer]) => `${payer} paid nothing in batch ${batchId}, or nothing for this`,
  WindowClosed: ([, deadline]) => `it is too late: it was possible until ${formatTime(deadline)}`,
  WindowOpen: ([, deadline]) => `the operator can answer until ${formatTime(deadline)}: ask again then`,
  AlreadyContested: () => "the row was contested before",
  NotContested: () => "the row is not contested, or was answered",
  AlreadyRefunded: () => "it was given back before",
  SlashPending: ([id, until]) =>
    `tool ${uuidFromToolId(id)} has a proposed slash until ${formatTime(until)}: execute or dismiss that first`,
  SlashVetoed: ([id, until]) =>
    `the guardian vetoed a slash of tool ${uuidFromToolId(id)}: another can be proposed from ${formatTime(until)} on`,
  NoSlash: ([id]) => `no slash of tool ${uuidFromToolId(id)} has been proposed: run slash propose first`,
  SlashTermsMismatch: () => "these are not the terms that were proposed: use the file that slash propose was given",
  SlashNotReady: ([, at]) => `the developer can answer until ${formatTime(at)}: execute the slash after that`,
  SlashExpired: ([, at]) => `the proposal ended at ${formatTime(at)}: propose it again`,
  SlashExceedsStake: ([amount, slashable]) => `${usd(amount)} are more than the ${usd(slashable)} that can be slashed`,
  RefundsExceedSlash: ([refunds, slashed]) => `the refunds are ${usd(refunds)}, more than the ${usd(slashed)} slashed`,
  TooManyRefunds: ([count, max]) => `${count} refunds are more than the ${max} that fit into one slash`,
  EvidenceAlreadyUsed: () => "the tool was slashed for this evidence before",
  AdjudicatorMustNotEarn: ([account]) => `whoever judges must not earn by it: ${account} is among those who gain`,
  CalledThroughAuthority: ([authority]) => `through ${authority} nobody would know who acted: call the contract itself`,
  NotPendingBeneficiary: ([caller, pending]) =>
    pending === ZeroAddress
      ? `nothing has been proposed to ${caller}: the admin proposes first`
      : `this was proposed to ${pending}, not to ${caller}: use its key with --from, or --safe`,
  AdminDelayTooShort: ([delay, min]) =>
    `an admin with a delay of ${delay} seconds would be faster than anybody can leave: name at least ${min}`,
  AdminCannotRenounce: ([admin]) =>
    `${admin} cannot leave at once: schedule revokeRole of its own role, once another admin has shown that it can act`,
  WiringIsFixed: () => "which functions belong to which role was fixed when the contracts were deployed",
  RoleHeld: ([role, account]) => `${account} holds role ${role}, and one account holds one role: name another account`,
  RoleNotHeld: ([role, account]) => `${account} does not hold role ${role}: see role list`,
  RoleNotSuspendable: () => "the guardian suspends adjudicators and courts: name one of these roles",
  PenaltyOutOfBounds: ([amount, max]) => `a penalty of ${usd(amount)} is above the ${usd(max)} possible now`,
  ParameterOutOfBounds: ([attempt, min, max]) => `${attempt} is outside the bounds ${min} to ${max}`,
  LimitOutOfBounds: ([attempt, max]) => `a limit of ${usd(attempt)} is above the highest possible, ${usd(max)}`,
  NothingToClaim: ([account]) => `${account} has nothing to claim`,
  ToolNotPayable: ([id]) => `tool ${uuidFromToolId(id)} is not listed, or its stake is too low: see tool`,
  DailyCapExceeded: ([attempt, left]) =>
    `${usd(attempt)} are more than the ${usd(left)} left of the daily cap: see daily-cap`,
  TokenUnavailable: () => "USDC moves nothing at present: Circle has paused it or blacklisted the router",
  EnforcedPause: () => "payments are paused: the guardian can unpause them",
  ExpectedPause: () => "payments are not paused",
  AccessManagedUnauthorized: ([account]) => `${account} has no role that allows this: use the right key with --from`,
  AccessManagerUnauthorizedCall: ([account]) =>
    `${account} has no role that allows this: use the right key with --from`,
  AccessManagerUnauthorizedAccount: ([account]) =>
    `${account} has no role that allows this: use the right key with --from`,
  AccessManagerUnauthorizedCancel: ([account]) =>
    `${account} may not cancel this: the admin may, and the guardian unless it is about a guardian`,
  AccessManagerAlreadyScheduled: ([id]) => `the same operation is scheduled already: run operation execute ${id}`,
  AccessManagerNotScheduled: ([id]) => `operation ${id} is not scheduled: see operation list`,
  AccessManagerNotReady: ([id]) => `operation ${id} is not ready yet: operation list says when`,
  AccessManagerExpired: ([id]) => `operation ${id} waited too long and is void: schedule it again`,
  HashMismatch: () => "a text is not the one that was signed: use the schema and the content as they were received",
  OutsideWindow: ([answeredAt]) =>
    `the answer is of ${formatTime(answeredAt)}: a tool can be convicted for 3 days, and not before it has answered`,
  KeyNotValid: ([id, key]) =>
    `${key} was no answer key of tool ${uuidFromToolId(id)} at that time: the signature is of somebody else, or changed`,
  SchemaNotInForce: ([id, hash]) => `tool ${uuidFromToolId(id)} had not promised the schema ${hash} at that time`,
  AlreadyConvicted: ([id]) => `tool ${uuidFromToolId(id)} was convicted for this charge before`,
  NotInvalid: ([verdict]) =>
    verdict === 1n
      ? "the court finds that the answer matches its schema"
      : "the court cannot tell whether the answer matches its schema: report it to the adjudicator",
  KeyNotRegistered: ([id, key]) => `${key} is no answer key of tool ${uuidFromToolId(id)}, or is revoked already`,
  SchemaAlreadyPinned: () => "this schema is pinned for the method already",
  ECDSAInvalidSignatureS: () => "the signature is the twin of the one that the tool gave: use the tool's own",
};

const ERROR_STRING = "0x08c379a0";

// What a revert says, with the way out.
export function explainRevert(data: string | undefined): string {
  if (!data || data === "0x") return "the contract refused without a reason; the gas may have run out";
  if (data.startsWith(ERROR_STRING)) {
    const [text] = AbiCoder.defaultAbiCoder().decode(["string"], `0x${data.slice(ERROR_STRING.length)}`);
    return `the token says "${text}"`;
  }
  for (const candidate of interfaces) {
    const error = candidate.parseError(data);
    if (error) return MESSAGES[error.name]?.(error.args) ?? `${error.name}(${error.args.join(", ")})`;
  }
  return `the contract refused with ${data}, which none of our contracts knows`;
}
