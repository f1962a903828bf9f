// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICredits} from "./ICredits.sol";
import {IToolStaking} from "./IToolStaking.sol";

/// @title ContextRouter: all value flows through it
/// @notice Payers approve USDC to this contract once. Operators turn delivered work into batches and settle them here:
/// 90 % of every tool charge is credited to the tool's payee, 10 % to the treasury, model cost to the treasury alone.
/// An operator names payers and amounts, and nothing else: payees come from the stake registry, a batch settles once,
/// and what an operator can move is bounded by the payer's allowance, the payer's daily cap and the operator's limit.
///
/// A batch is a list of tool ids and a packed list of rows. All numbers are big-endian, amounts are micro-USDC:
/// ```
/// row  = payer (20 bytes) | model cost (6 bytes) | number of lines (1 byte) | lines
/// line = index into the tool ids (1 byte) | amount (6 bytes)
/// ```
interface IContextRouter is ICredits {
    /// @notice Why a payer's row was not charged. Every reason was read from the token or from this contract's storage.
    enum ChargeFailure {
        DailyCap,
        Blacklisted,
        Allowance,
        Balance
    }

    /// @notice Why a line was left out of its row.
    enum LineRefusal {
        Unlisted,
        UnderStaked
    }

    /// @notice The pre-flight of one payer.
    /// @param amount What could be charged now: the least of the three below, or zero if the payer cannot pay at all.
    /// @param balance The payer's USDC.
    /// @param allowance What the payer allows this contract to take: the spending cap.
    /// @param dailyCapLeft What is left of the payer's daily cap; the largest uint256 when there is none.
    struct Spendable {
        uint256 amount;
        uint256 balance;
        uint256 allowance;
        uint256 dailyCapLeft;
    }

    /// @notice A batch was settled. What each payer paid is the token's own `Transfer` event in the same transaction.
    /// @param receiptsRoot The batch: the root of the Merkle tree of its receipts.
    /// @param operator Who submitted it.
    /// @param charged What all payers paid together.
    /// @param treasuryShare What of it was credited to the treasury.
    event BatchSettled(bytes32 indexed receiptsRoot, address indexed operator, uint256 charged, uint256 treasuryShare);

    /// @notice A tool earned `amount`, of which `developerShare` was credited to `payee`.
    event ToolPaid(bytes16 indexed toolId, address indexed payee, uint256 amount, uint256 developerShare);

    /// @notice A row was not charged; the rest of the batch was settled without it.
    event ChargeFailed(bytes32 indexed receiptsRoot, address indexed payer, uint256 amount, ChargeFailure reason);

    /// @notice A line was left out because its tool may not be paid; the payer was not charged for it.
    event LineRefused(
        bytes32 indexed receiptsRoot,
        address indexed payer,
        bytes16 indexed toolId,
        uint256 amount,
        LineRefusal reason
    );

    /// @notice A payer paid for a tool directly.
    event Paid(address indexed payer, bytes16 indexed toolId, uint256 amount, uint256 modelCost);

    /// @notice `payer` limits what may be taken in any 24 hours; zero means no such limit.
    event DailyCapSet(address indexed payer, uint256 cap);

    /// @notice `operator` may settle up to `limit` in any 24 hours; zero means that it is no operator.
    event OperatorLimitSet(address indexed operator, uint256 limit);

    /// @notice The caller may not settle.
    error NotOperator(address caller);

    /// @notice The receipts were settled before, at `timestamp`.
    error BatchAlreadySettled(bytes32 receiptsRoot, uint256 timestamp);

    /// @notice A batch needs a receipts root and at least one row.
    error EmptyBatch();

    /// @notice The rows end in the middle of a row: `needed` bytes, of which `given` are there.
    error RowsTruncated(uint256 needed, uint256 given);

    /// @notice The batch would charge `attempt` while the operator has `left` of its limit.
    error OperatorLimitExceeded(uint256 attempt, uint256 left);

    /// @notice The payment is `attempt` while the payer has `left` of the daily cap.
    error DailyCapExceeded(uint256 attempt, uint256 left);

    /// @notice The new limit is `attempt`; at most `max` is allowed.
    error LimitOutOfBounds(uint256 attempt, uint256 max);

    /// @notice The tool is not listed, or its stake is too low.
    error ToolNotPayable(bytes16 toolId);

    /// @notice A tool is paid something or not at all.
    error ZeroAmount();

    /// @notice The token moves nothing for anybody at present: it is paused, or it has blacklisted this contract.
    error TokenUnavailable();

    /// @notice The token refused `amount` of `payer` for no reason that this contract can verify, for example because
    /// the transaction ran low on gas. The batch is undone, because a row may fail only for a reason that is proven.
    error ChargeUnexplained(address payer, uint256 amount);

    /// @notice The registry that says whom a tool pays, and whether its stake allows it.
    function staking() external view returns (IToolStaking);

    /// @notice The account that earns the protocol's share and the model cost.
    function treasury() external view returns (address);

    /// @notice The most that an operator's limit can be set to.
    function MAX_OPERATOR_LIMIT() external view returns (uint256);

    /// @notice When the batch with this receipts root was settled; zero if it was not.
    function settledAt(bytes32 receiptsRoot) external view returns (uint256 timestamp);

    /// @notice An operator's limit for any 24 hours, and what is left of it now.
    function operatorLimit(address operator) external view returns (uint256 limit, uint256 left);

    /// @notice A payer's own daily cap, and what is left of it now. A cap of zero means none, and then all is left.
    function dailyCap(address payer) external view returns (uint256 cap, uint256 left);

    /// @notice What could be charged to `payer` now, and why not more.
    function spendable(address payer) external view returns (Spendable memory);

    /// @notice The same for many payers in one read.
    function spendableMany(address[] calldata payers) external view returns (Spendable[] memory);

    /// @notice Settles a batch: charges each row's payer once and credits the tools' payees and the treasury.
    /// A row that cannot be paid and a line whose tool may not be paid are left out and reported; the rest settles.
    /// @param receiptsRoot The root of the batch's receipts. It can be settled once, ever.
    /// @param toolIds The tools that the lines refer to.
    /// @param rows The packed rows.
    /// @return charged What all payers paid together.
    function settle(
        bytes32 receiptsRoot,
        bytes16[] calldata toolIds,
        bytes calldata rows
    ) external returns (uint256 charged);

    /// @notice Pays for a tool directly, out of the caller's allowance: `amount` is split, `modelCost` is not.
    function pay(bytes16 toolId, uint256 amount, uint256 modelCost) external;

    /// @notice Limits what may be taken from the caller in any 24 hours. Zero lifts the limit.
    function setDailyCap(uint48 cap) external;

    /// @notice Makes `operator` an operator with a limit for any 24 hours, or changes the limit, or ends it with zero.
    function setOperatorLimit(address operator, uint48 limit) external;

    /// @notice Ends what `operator` may do, at once. Only `setOperatorLimit` brings it back.
    function suspendOperator(address operator) external;

    /// @notice Stops `settle` and `pay`. Claims go on.
    function pause() external;

    /// @notice Lets `settle` and `pay` go on.
    function unpause() external;
}
