import { type Mutation, mocha } from "../mutation.ts";

const ROUTER = "contracts/ContextRouter.sol";
const CREDITS = "contracts/Credits.sol";
const STAKING = "contracts/ToolStaking.sol";
const SLASHING = "contracts/Slashing.sol";

export const contractMutations: readonly Mutation[] = [
  {
    bug: "A batch's root is not remembered, so that a batch settles as often as it is sent",
    file: "contracts/SettledBatches.sol",
    find: "        _settledAt[receiptsRoot] = block.timestamp;\n",
    replace: "",
    caughtBy: mocha("adversaries/replays.ts"),
  },
  {
    bug: "Whoever calls may settle",
    file: ROUTER,
    find: "if (limit.cap == 0) revert NotOperator(msg.sender);",
    replace: "",
    caughtBy: mocha("ContextRouter/settle.ts"),
  },
  {
    bug: "What an operator settles is not counted towards its limit",
    file: ROUTER,
    find: "        limit.spend(charged);\n",
    replace: "",
    caughtBy: mocha("ContextRouter/operatorLimit.ts"),
  },
  {
    bug: "The admin may give an operator any limit",
    file: ROUTER,
    find: "if (limit > MAX_OPERATOR_LIMIT) revert LimitOutOfBounds(limit, MAX_OPERATOR_LIMIT);",
    replace: "",
    caughtBy: mocha("ContextRouter/operatorLimit.ts"),
  },
  {
    bug: "What is taken from a payer is not counted towards the daily cap",
    file: ROUTER,
    find: "if (capped) cap.spend(amount);",
    replace: "",
    caughtBy: mocha("ContextRouter/setDailyCap.ts"),
  },
  {
    bug: "A rolling limit forgets its oldest eight hours too early",
    file: "contracts/libraries/RollingLimit.sol",
    find: " + uint48(sums >> 96) + uint48(sums >> 144)",
    replace: " + uint48(sums >> 96)",
    caughtBy: mocha("ContextRouter/operatorLimit.ts"),
  },
  {
    bug: "A row that was not paid is credited to its tools all the same",
    file: ROUTER,
    find: "                    _untally(rows, start, end, tallies);\n",
    replace: "                    modelCosts += 0;\n",
    caughtBy: mocha("ContextRouter/settle.ts"),
  },
  {
    bug: "A payer is charged for the line of a tool that may not be paid",
    file: "contracts/libraries/Tallies.sol",
    find: "added := mul(amount, iszero(iszero(shr(SUM_BITS, tally))))",
    replace: "added := amount",
    caughtBy: mocha("ContextRouter/settle.ts"),
  },
  {
    bug: "A paused token is taken for the payer's failure",
    file: ROUTER,
    find: "if (_tokenUnavailable()) revert TokenUnavailable();",
    replace: "",
    caughtBy: mocha("adversaries/tokenUnavailable.ts"),
  },
  {
    bug: "A direct payment is credited to whoever calls instead of the tool's payee",
    file: ROUTER,
    find: "_credit(treasury, modelCost + _creditTool(toolId, payee, amount));",
    replace: "_credit(treasury, modelCost + _creditTool(toolId, msg.sender, amount));",
    caughtBy: mocha("ContextRouter/pay.ts"),
  },
  {
    bug: "The split rounds against the developer",
    file: "contracts/libraries/RevenueSplit.sol",
    find: "protocolShare = amount / PROTOCOL_PARTS;",
    replace: "protocolShare = (amount + PROTOCOL_PARTS - 1) / PROTOCOL_PARTS;",
    caughtBy: mocha("parity.ts"),
  },
  {
    bug: "A pause of the router stops claims",
    file: CREDITS,
    find: "        if (to == address(this)) revert InvalidRecipient(to);\n",
    replace: `        if (to == address(this)) revert InvalidRecipient(to);
        (bool known, bytes memory paused) = address(this).staticcall(abi.encodeWithSignature("paused()"));
        if (known && abi.decode(paused, (bool))) revert NothingToClaim(msg.sender);
`,
    caughtBy: mocha("ContextRouter/pause.ts"),
  },
  {
    bug: "A payout that the token refuses loses the credit",
    file: CREDITS,
    find: "                creditOf[account] = amount;\n",
    replace: "",
    caughtBy: mocha("ContextRouter/payout.ts"),
  },
  {
    bug: "A pending withdrawal counts as stake",
    file: STAKING,
    find: "return listing.stake < _requiredStake(listing.price, current)",
    replace: "return listing.stake + listing.withdrawing < _requiredStake(listing.price, current)",
    caughtBy: mocha("ToolStaking/payees.ts"),
  },
  {
    bug: "A price rises without the stake for it",
    file: STAKING,
    find: "if (price > listing.price) _checkStake(listing.stake, price);",
    replace: "",
    caughtBy: mocha("ToolStaking/setPrice.ts"),
  },
  {
    bug: "A stake leaves before its seven days are over",
    file: STAKING,
    find: "if (block.timestamp < readyAt) revert WithdrawalNotReady(block.timestamp, readyAt);",
    replace: "",
    caughtBy: mocha("ToolStaking/withdraw.ts"),
  },
  {
    bug: "A slash holds a withdrawal without a bound",
    file: STAKING,
    find: "Math.min(_frozenUntil(toolId), readyAt + MAX_FREEZE)",
    replace: "_frozenUntil(toolId)",
    caughtBy: mocha("ToolStaking/withdraw.ts"),
  },
  {
    bug: "A slash does not reach what is on its way out",
    file: STAKING,
    find: "return uint256(_tools[toolId].stake) + _tools[toolId].withdrawing;",
    replace: "return uint256(_tools[toolId].stake);",
    caughtBy: mocha("ToolStaking/executeSlash.ts"),
  },
  {
    bug: "A tool's id does not depend on who lists it, so that a listing can be taken by whoever sees it first",
    file: "contracts/libraries/ToolId.sol",
    find: "keccak256(abi.encode(owner, salt))",
    replace: "keccak256(abi.encode(owner == address(0), salt))",
    caughtBy: mocha("adversaries/frontRunListing.ts"),
  },
  {
    bug: "The rest of a slash goes to the adjudicator instead of the insurance account",
    file: SLASHING,
    find: "_credit(insurance, remainder);",
    replace: "_credit(msg.sender, remainder);",
    caughtBy: mocha("ToolStaking/executeSlash.ts"),
  },
  {
    bug: "A slash does not wait for the developer's answer",
    file: SLASHING,
    find: "if (block.timestamp < slash.executableAt) revert SlashNotReady(block.timestamp, slash.executableAt);",
    replace: "",
    caughtBy: mocha("ToolStaking/executeSlash.ts"),
  },
  {
    bug: "A slash refunds more than it takes",
    file: SLASHING,
    find: "if (refunds > terms.amount) revert RefundsExceedSlash(refunds, terms.amount);",
    replace: "",
    caughtBy: mocha("ToolStaking/proposeSlash.ts"),
  },
  {
    bug: "A tool is slashed twice for the same evidence",
    file: SLASHING,
    find: "        _judged[_caseHash(toolId, terms)] = true;\n",
    replace: "",
    caughtBy: mocha("adversaries/replays.ts"),
  },
  {
    bug: "An adjudicator may earn from a slash",
    file: SLASHING,
    find: "if (earns) revert AdjudicatorMustNotEarn(msg.sender);",
    replace: "if (earns && count > MAX_REFUNDS) revert AdjudicatorMustNotEarn(msg.sender);",
    caughtBy: mocha("adversaries/stolenAdjudicatorKey.ts"),
  },
];
