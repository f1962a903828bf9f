// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {ChargeFailure} from "./ChargeFailure.sol";
import {IBeneficiary} from "./IBeneficiary.sol";
import {IBudgets} from "./IBudgets.sol";
import {ICredits} from "./ICredits.sol";
import {IOperatorBonds} from "./IOperatorBonds.sol";
import {IPrepaid} from "./IPrepaid.sol";
import {IToolStaking} from "./IToolStaking.sol";

/// @title ContextRouter: all value flows through it
/// @notice Payers approve USDC to this contract once, or deposit it here. Operators turn delivered work into batches
/// and settle them: 90 % of every tool charge is credited to the tool's payee, 10 % to the treasury, model cost to
/// the treasury alone. An operator names payers and amounts, and nothing else: payees come from the stake registry,
/// a batch settles once and after the operator's previous one, and what an operator can move is bounded by the
/// payer's allowance or prepaid balance, the payer's daily cap and budgets, what a tool's stake lets it earn, and
/// the operator's limit. What it cannot show receipts for, or has charged twice, the ReceiptCourt takes from its bond.
///
/// A batch is a list of tool ids and a packed list of rows. All numbers are big-endian, amounts are micro-USDC:
/// ```
/// row    = payer (20 bytes) | flags (1) | model cost (6) | number of lines (1) | budget | tools | signed | lines
/// budget = id (8)                                                                    if flags & 2
/// tools  = number of tools (1) | tool ids (16 each)                                  if flags & 8
/// signed = maxSpend (6) | validUntil (5) | length of the signature (2) | signature   if flags & 4
/// line   = amount (6) | index into the tool ids (1)
/// ```
/// A row with flag 1 draws on the prepaid balance, any other on the allowance. One with flag 2 draws on a budget as
/// well; with flag 4 it brings the payer's signature, and with flag 8 the list of tools that a budget for some tools
/// is for. Rows are in the order of their payers, lowest address first, so that a payer has one row in a batch: what
/// the payer paid in it is then one thing, which was charged or was not.
interface IContextRouter is IBeneficiary, ICredits, IBudgets, IPrepaid {
    /// @notice Why lines of a tool were left out.
    enum Refusal {
        Unlisted,
        UnderStaked,
        // Its stake lets it earn no more for now.
        EarningCap
    }

    /// @notice The pre-flight of one payer.
    /// @param amount What could be taken from the payer's wallet now: the least of the three below, or zero if
    /// nothing can be taken at all.
    /// @param balance The payer's USDC.
    /// @param allowance What the payer allows this contract to take: the spending cap.
    /// @param dailyCapLeft What is left of the payer's daily cap; the largest uint256 when there is none.
    /// @param prepaid What of the prepaid balance the payer has not asked back. The daily cap holds for it as well.
    /// @param consentRequired Whether the payer can be charged under a budget alone.
    struct Spendable {
        uint256 amount;
        uint256 balance;
        uint256 allowance;
        uint256 dailyCapLeft;
        uint256 prepaid;
        bool consentRequired;
    }

    /// @notice A batch was settled. What a payer paid out of its allowance is the token's own `Transfer` event in the
    /// same transaction; what it paid out of its prepaid balance is its row in the calldata, less the lines that
    /// `LinesRefused` names, unless `ChargeFailed` names the row.
    /// @param batchId The batch's id: the root of the Merkle tree of its receipts.
    /// @param previous The batch that this operator settled before; zero for the first.
    /// @param operator Who submitted it.
    /// @param charged What all payers paid together.
    /// @param treasuryShare What of it was credited to the treasury.
    event BatchSettled(
        bytes32 indexed batchId,
        bytes32 indexed previous,
        address indexed operator,
        uint256 charged,
        uint256 treasuryShare
    );

    /// @notice A tool earned `amount` in a batch, of which `developerShare` was credited to `payee`. A direct payment
    /// has no batch: its id is zero.
    event ToolPaid(
        bytes32 indexed batchId,
        bytes16 indexed toolId,
        address indexed payee,
        uint256 amount,
        uint256 developerShare
    );

    /// @notice The row that begins at byte `row` of the rows was not charged; the rest of the batch was settled
    /// without it.
    event ChargeFailed(
        bytes32 indexed batchId,
        address indexed payer,
        uint256 row,
        uint256 amount,
        ChargeFailure reason
    );

    /// @notice Lines were left out of the row that begins at byte `row` of the rows, because their tools may not be
    /// paid; the payer was not charged for them. `lines` has a tool id (16 bytes) and an amount (6 bytes) for each.
    event LinesRefused(bytes32 indexed batchId, address indexed payer, uint256 row, bytes lines);

    /// @notice Why lines of a tool were left out, once for each tool of a batch.
    event ToolRefused(bytes32 indexed batchId, bytes16 indexed toolId, Refusal reason);

    /// @notice A payer paid for a tool directly.
    event Paid(address indexed payer, bytes16 indexed toolId, uint256 amount, uint256 modelCost);

    /// @notice `payer` limits what may be taken in any 24 hours; zero means no such limit.
    event DailyCapSet(address indexed payer, uint256 cap);

    /// @notice `operator` may settle up to `limit` in any 24 hours; zero means that it is no operator.
    event OperatorLimitSet(address indexed operator, uint256 limit);

    /// @notice From now on the bond of `operator` is enough for its limit, or no longer.
    event OperatorBonded(address indexed operator, bool bonded);

    /// @notice The caller may not settle.
    error NotOperator(address caller);

    /// @notice The operator's bond is less than its limit asks for.
    error BondTooLow(address operator);

    /// @notice The receipts were settled before, at `timestamp`.
    error BatchAlreadySettled(bytes32 batchId, uint256 timestamp);

    /// @notice The batch follows `previous` while the operator's last batch is `head`.
    error BatchOutOfOrder(bytes32 previous, bytes32 head);

    /// @notice A batch needs an id, and something that is charged or fails.
    error EmptyBatch();

    /// @notice The call, with 64 bytes for each row of which something was not charged, has `length` bytes; at most
    /// `max` can be shown to a court again.
    error BatchTooLarge(uint256 length, uint256 max);

    /// @notice The batch would charge `attempt` while the operator has `left` of its limit.
    error OperatorLimitExceeded(uint256 attempt, uint256 left);

    /// @notice The payment is `attempt` while the payer has `left` of the daily cap.
    error DailyCapExceeded(uint256 attempt, uint256 left);

    /// @notice The tool would earn `attempt` while its stake leaves `left` for now.
    error EarningCapExceeded(uint256 attempt, uint256 left);

    /// @notice The new limit is `attempt`; at most `max` is allowed.
    error LimitOutOfBounds(uint256 attempt, uint256 max);

    /// @notice The tool is not listed, or its stake is too low.
    error ToolNotPayable(bytes16 toolId);

    /// @notice The batch names a tool twice.
    error ToolRepeated(bytes16 toolId);

    /// @notice The token moves nothing for anybody at present: it is paused, or it has blacklisted this contract.
    error TokenUnavailable();

    /// @notice The token refused `amount` of `payer` for no reason that this contract can verify, for example because
    /// the transaction ran low on gas. The batch is undone, because a row may fail only for a reason that is proven.
    error ChargeUnexplained(address payer, uint256 amount);

    /// @notice The registry that says whom a tool pays, and how much its stake allows it.
    function staking() external view returns (IToolStaking);

    /// @notice The bonds of operators.
    function bonds() external view returns (IOperatorBonds);

    /// @notice The account that earns the protocol's share and the model cost.
    function treasury() external view returns (address);

    /// @notice The most that an operator's limit can be set to.
    function MAX_OPERATOR_LIMIT() external view returns (uint256);

    /// @notice What is kept of the batch with this id; all zero if it was not settled.
    /// @return timestamp When it was settled.
    /// @return digest The first 27 bytes of `keccak256(abi.encode(operator, keccak256(call), exceptions))`, where
    /// `call` is the whole calldata of `settle`. It proves what was charged from calldata that is shown later.
    /// `exceptions` begins with zero and becomes `keccak256(abi.encode(exceptions, row, lines))` for each row of
    /// which something was not charged: `row` is where it begins in the packed rows, `lines` has a bit for each line
    /// that was refused, the first line lowest, and all bits for a row that failed.
    function batchOf(bytes32 batchId) external view returns (uint256 timestamp, bytes27 digest);

    /// @notice When the batch with this id was settled; zero if it was not.
    function settledAt(bytes32 batchId) external view returns (uint256 timestamp);

    /// @notice The batch that `operator` settled last, which its next one has to name; zero before the first.
    function headOf(address operator) external view returns (bytes32 batchId);

    /// @notice An operator's limit for any 24 hours, what is left of it now, and whether its bond is enough for it.
    function operatorLimit(address operator) external view returns (uint256 limit, uint256 left, bool bonded);

    /// @notice A payer's own daily cap, and what is left of it now. A cap of zero means none, and then all is left.
    function dailyCap(address payer) external view returns (uint256 cap, uint256 left);

    /// @notice What a tool may still earn now: what its stake allows in any 24 hours, less what it has earned. Zero
    /// for a tool that may not be paid.
    function earningsLeft(bytes16 toolId) external view returns (uint256);

    /// @notice What could be charged to `payer` now, and why not more.
    function spendable(address payer) external view returns (Spendable memory);

    /// @notice The same for many payers in one read.
    function spendableMany(address[] calldata payers) external view returns (Spendable[] memory);

    /// @notice Settles a batch: charges each row's payer once and credits the tools' payees and the treasury.
    /// A row that cannot be paid and a line whose tool may not be paid are left out and reported; the rest settles.
    /// @param previous The batch that the caller settled before; zero for the first.
    /// @param batchId The batch's id, which is the root of its receipts. It can be settled once, ever.
    /// @param toolIds The tools that the lines refer to.
    /// @param rows The packed rows.
    /// @return charged What all payers paid together.
    function settle(
        bytes32 previous,
        bytes32 batchId,
        bytes16[] calldata toolIds,
        bytes calldata rows
    ) external returns (uint256 charged);

    /// @notice Pays for a tool directly, out of the caller's allowance: `amount` is split, `modelCost` is not.
    function pay(bytes16 toolId, uint256 amount, uint256 modelCost) external;

    /// @notice Limits what may be taken from the caller in any 24 hours. Zero is refused, because it could mean two
    /// things: `liftDailyCap` lifts the limit, and whoever wants nothing to be taken approves nothing.
    function setDailyCap(uint40 cap) external;

    /// @notice Lifts the caller's daily cap.
    function liftDailyCap() external;

    /// @notice Makes `operator` an operator with a limit for any 24 hours, or changes the limit, or ends it with
    /// zero.
    function setOperatorLimit(address operator, uint48 limit) external;

    /// @notice Looks again whether the bond of `operator` is enough. Whatever changes a bond or a limit does it; after
    /// a change of what bonds must be, anybody can.
    function refreshBond(address operator) external;

    /// @notice Ends what `operator` may do, at once. Only `setOperatorLimit` brings it back.
    function suspendOperator(address operator) external;

    /// @notice Stops `settle`, `pay` and deposits. Claims and refunds go on.
    function pause() external;

    /// @notice Lets them go on.
    function unpause() external;
}
