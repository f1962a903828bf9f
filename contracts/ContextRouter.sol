// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {BatchChain} from "./BatchChain.sol";
import {Beneficiary} from "./Beneficiary.sol";
import {Charges} from "./Charges.sol";
import {Credits} from "./Credits.sol";
import {Limits} from "./Limits.sol";
import {SettledBatches} from "./SettledBatches.sol";
import {ChargeFailure} from "./interfaces/ChargeFailure.sol";
import {IBeneficiary} from "./interfaces/IBeneficiary.sol";
import {IContextRouter} from "./interfaces/IContextRouter.sol";
import {IOperatorBonds} from "./interfaces/IOperatorBonds.sol";
import {IToolStaking} from "./interfaces/IToolStaking.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";
import {BatchRows} from "./libraries/BatchRows.sol";
import {RefusedLines} from "./libraries/RefusedLines.sol";
import {RevenueSplit} from "./libraries/RevenueSplit.sol";
import {Spending} from "./libraries/RollingLimit.sol";
import {Tallies, TallySheet} from "./libraries/Tallies.sol";

/// @title ContextRouter
/// @notice See IContextRouter. What is remembered, counted, agreed to, deposited and taken is in the parts that this
/// contract is made of; here is how a batch becomes money.
contract ContextRouter is SettledBatches, BatchChain, Charges, AccessManaged {
    using BatchRows for bytes;
    using SafeERC20 for IUSDC;

    /// @dev A batch while it is being charged.
    struct Charging {
        bytes32 batchId;
        uint256 modelCosts;
        bytes32 exceptions;
        uint256 shownBytes;
        TallySheet tallies;
    }

    /// @dev A row of which nothing was charged, among the exceptions.
    uint256 private constant ALL_LINES = type(uint256).max;

    /// @dev The time of a batch takes the lowest 40 bits of its record.
    uint256 private constant DIGEST_BITS = ~uint256(type(uint40).max);

    /// @dev The court is shown all calldata of a batch again, and two words for each exception: with more of it than
    /// this, and the receipt's path, an operator could settle what no transaction of 128 KiB has the room to dispute.
    uint256 private constant MAX_SHOWN_BYTES = 80_000;
    uint256 private constant EXCEPTION_BYTES = 64;

    /// @inheritdoc IContextRouter
    IToolStaking public immutable staking;

    /// @param authority The AccessManager that holds the roles.
    /// @param staking_ The registry of tools; its token is the router's token.
    /// @param bonds_ The bonds of operators.
    /// @param treasury_ Who earns the protocol's share.
    constructor(
        address authority,
        IToolStaking staking_,
        IOperatorBonds bonds_,
        address treasury_
    ) Credits(staking_.usdc()) Beneficiary(treasury_) Limits(bonds_) AccessManaged(authority) {
        staking = staking_;
    }

    /// @inheritdoc IContextRouter
    function settle(
        bytes32 previous,
        bytes32 batchId,
        bytes16[] calldata toolIds,
        bytes calldata rows
    ) external nonReentrant whenNotPaused returns (uint256 charged) {
        _checkOperator(msg.sender);
        if (batchId == 0) revert EmptyBatch();
        _settleOnce(batchId);
        _follow(msg.sender, previous, batchId);

        Charging memory batch;
        batch.batchId = batchId;
        batch.shownBytes = msg.data.length;
        _openTallies(batch, toolIds);
        _chargeRows(batch, toolIds, rows);
        uint256 treasuryShare;
        (charged, treasuryShare) = _creditTools(batch, toolIds);
        if (charged == 0 && batch.exceptions == 0) revert EmptyBatch();
        if (batch.shownBytes > MAX_SHOWN_BYTES) revert BatchTooLarge(batch.shownBytes, MAX_SHOWN_BYTES);
        // What was asked for and what became of it, above the time.
        bytes32 digest = keccak256(abi.encode(msg.sender, keccak256(msg.data), batch.exceptions));
        _keep(batchId, (uint256(digest) & DIGEST_BITS) | block.timestamp);
        _spendOfOperator(msg.sender, charged);
        _creditBeneficiary(treasuryShare);
        emit BatchSettled(batchId, previous, msg.sender, charged, treasuryShare);
    }

    /// @inheritdoc IContextRouter
    function pay(bytes16 toolId, uint256 amount, uint256 modelCost) external nonReentrant whenNotPaused {
        if (amount == 0) revert ZeroAmount();
        (address payee, uint256 limit) = staking.earner(toolId);
        if (payee == address(0)) revert ToolNotPayable(toolId);
        Spending earned = _earningsOf(toolId);
        uint256 earnable = _earningsLeft(earned, limit);
        if (amount > earnable) revert EarningCapExceeded(amount, earnable);
        uint256 total = amount + modelCost;
        if (_payers[msg.sender].hasDailyCap) {
            uint256 left = _dailyCapLeft(msg.sender);
            if (total > left) revert DailyCapExceeded(total, left);
            _spendOfPayer(msg.sender, total);
        }
        emit Paid(msg.sender, toolId, amount, modelCost);
        _creditBeneficiary(modelCost + _creditTool(0, toolId, payee, earned, amount));
        usdc.safeTransferFrom(msg.sender, address(this), total);
    }

    /// @inheritdoc IContextRouter
    function setOperatorLimit(address operator, uint48 limit) external restricted {
        _setOperatorLimit(operator, limit);
    }

    /// @inheritdoc IContextRouter
    function suspendOperator(address operator) external restricted {
        _setOperatorLimit(operator, 0);
    }

    /// @inheritdoc IContextRouter
    function pause() external restricted {
        _pause();
    }

    /// @inheritdoc IContextRouter
    function unpause() external restricted {
        _unpause();
    }

    /// @inheritdoc IBeneficiary
    function proposeBeneficiary(address account) external restricted {
        _proposeBeneficiary(account);
    }

    /// @inheritdoc IContextRouter
    function treasury() external view returns (address) {
        return _beneficiary;
    }

    /// @inheritdoc IContextRouter
    function batchOf(bytes32 batchId) external view returns (uint256 timestamp, bytes27 digest) {
        uint256 record = _recordOf(batchId);
        return (uint40(record), bytes27(bytes32(record)));
    }

    /// @inheritdoc IContextRouter
    function settledAt(bytes32 batchId) external view returns (uint256 timestamp) {
        return uint40(_recordOf(batchId));
    }

    /// @inheritdoc IContextRouter
    function headOf(address operator) external view returns (bytes32 batchId) {
        return _head(operator);
    }

    /// @inheritdoc IContextRouter
    function earningsLeft(bytes16 toolId) external view returns (uint256) {
        (, uint256 limit) = staking.earner(toolId);
        return _earningsLeft(_earningsOf(toolId), limit);
    }

    /// @dev Asks the registry once for all tools, and opens a tally of what each may still earn.
    function _openTallies(Charging memory batch, bytes16[] calldata toolIds) private view {
        uint256[] memory earners = staking.earners(toolIds);
        TallySheet tallies = Tallies.create(toolIds.length);
        for (uint256 i = 0; i < toolIds.length; ++i) {
            uint256 earner = earners[i];
            if (earner == 0) continue;
            Spending earned = _earningsOf(toolIds[i]);
            tallies.open(i, address(uint160(earner >> 96)), earned, _earningsLeft(earned, uint96(earner)));
        }
        batch.tallies = tallies;
    }

    /// @dev Charges every row once and tallies what its tools earned.
    function _chargeRows(Charging memory batch, bytes16[] calldata toolIds, bytes calldata rows) private {
        BatchRows.Row memory row;
        TallySheet tallies = batch.tallies;
        // No sum here can overflow: every amount has 48 bits, and there are far fewer than 2^200 of them.
        unchecked {
            uint256 end = 0;
            while (end < rows.length) {
                uint256 start = end;
                uint256 lines;
                (lines, end) = rows.read(start, row);
                (uint256 total, uint256 refused) = tallies.addLines(rows, lines, end);
                if (refused != 0) RefusedLines.report(batch.batchId, toolIds, rows, row, start, refused);
                uint256 modelCost = row.modelCost;
                total += modelCost;
                ChargeFailure failure;
                if (total != 0) failure = _charge(rows, row, toolIds, total);
                if (failure == ChargeFailure.None) {
                    batch.modelCosts += modelCost;
                    if (refused == 0) continue;
                } else {
                    emit ChargeFailed(batch.batchId, row.payer, start, total, failure);
                    _untally(rows, row, tallies, refused);
                    refused = ALL_LINES;
                }
                batch.exceptions = keccak256(abi.encode(batch.exceptions, start, refused));
                batch.shownBytes += EXCEPTION_BYTES;
            }
        }
    }

    /// @dev Takes the lines of a row that failed out of the tallies again. Adding first and undoing the rare failure
    /// reads the lines of a good row once instead of twice.
    function _untally(bytes calldata rows, BatchRows.Row memory row, TallySheet tallies, uint256 refused) private pure {
        for (uint256 offset = row.lines; offset < row.end; offset += BatchRows.LINE_BYTES) {
            (uint256 index, uint256 amount) = rows.line(offset);
            if (refused & 1 == 0) tallies.subtract(index, amount);
            refused >>= 1;
        }
    }

    /// @dev Credits every tool that earned something; returns what was charged in all, and the treasury's share of it.
    function _creditTools(
        Charging memory batch,
        bytes16[] calldata toolIds
    ) private returns (uint256 charged, uint256 treasuryShare) {
        TallySheet tallies = batch.tallies;
        charged = treasuryShare = batch.modelCosts;
        // Sums of amounts with 48 bits.
        unchecked {
            for (uint256 i = 0; i < toolIds.length; ++i) {
                bytes16 toolId = toolIds[i];
                (address payee, uint256 amount, bool refused) = tallies.read(i);
                if (refused) emit ToolRefused(batch.batchId, toolId, _refusalOf(toolId, payee));
                if (amount == 0) continue;
                charged += amount;
                treasuryShare += _creditTool(batch.batchId, toolId, payee, tallies.earnedBefore(i), amount);
            }
        }
    }

    /// @dev Credits a tool's payee; returns the protocol's share.
    function _creditTool(
        bytes32 batchId,
        bytes16 toolId,
        address payee,
        Spending earned,
        uint256 amount
    ) private returns (uint256 protocolShare) {
        uint256 developerShare;
        (developerShare, protocolShare) = RevenueSplit.split(amount);
        _addEarnings(toolId, earned, amount);
        _credit(payee, developerShare);
        emit ToolPaid(batchId, toolId, payee, amount, developerShare);
    }

    /// @dev Why a tool, whose tally has this payee, could not be paid.
    function _refusalOf(bytes16 toolId, address payee) private view returns (Refusal) {
        if (payee != address(0)) return Refusal.EarningCap;
        return staking.tool(toolId).owner == address(0) ? Refusal.Unlisted : Refusal.UnderStaked;
    }
}
