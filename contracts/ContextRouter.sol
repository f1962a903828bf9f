// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Credits} from "./Credits.sol";
import {SettledBatches} from "./SettledBatches.sol";
import {IContextRouter} from "./interfaces/IContextRouter.sol";
import {IToolStaking} from "./interfaces/IToolStaking.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";
import {BatchRows} from "./libraries/BatchRows.sol";
import {RevenueSplit} from "./libraries/RevenueSplit.sol";
import {RollingLimit} from "./libraries/RollingLimit.sol";
import {Tallies} from "./libraries/Tallies.sol";

/// @title ContextRouter
/// @notice See IContextRouter.
contract ContextRouter is IContextRouter, SettledBatches, Credits, AccessManaged, Pausable {
    using BatchRows for bytes;
    using RollingLimit for RollingLimit.State;
    using SafeERC20 for IUSDC;
    using Tallies for uint256[];

    /// @inheritdoc IContextRouter
    uint256 public constant MAX_OPERATOR_LIMIT = 1_000_000e6;

    /// @inheritdoc IContextRouter
    IToolStaking public immutable staking;

    /// @inheritdoc IContextRouter
    address public immutable treasury;

    /// @dev An operator is an account with a limit above zero. The limit is the role: one read answers both.
    mapping(address operator => RollingLimit.State) private _operatorLimits;

    /// @dev A payer without a cap, the usual case, has a cap of zero here.
    mapping(address payer => RollingLimit.State) private _dailyCaps;

    /// @param authority The AccessManager that holds the roles.
    /// @param staking_ The registry of tools; its token is the router's token.
    /// @param treasury_ Who earns the protocol's share.
    constructor(
        address authority,
        IToolStaking staking_,
        address treasury_
    ) Credits(staking_.usdc()) AccessManaged(authority) {
        if (treasury_ == address(0)) revert InvalidRecipient(treasury_);
        staking = staking_;
        treasury = treasury_;
    }

    /// @inheritdoc IContextRouter
    function settle(
        bytes32 receiptsRoot,
        bytes16[] calldata toolIds,
        bytes calldata rows
    ) external nonReentrant whenNotPaused returns (uint256 charged) {
        RollingLimit.State storage limit = _operatorLimits[msg.sender];
        if (limit.cap == 0) revert NotOperator(msg.sender);
        if (receiptsRoot == 0 || rows.length == 0) revert EmptyBatch();
        _settleOnce(receiptsRoot);

        uint256[] memory tallies = Tallies.open(staking.payees(toolIds));
        uint256 modelCosts;
        (charged, modelCosts) = _chargeRows(receiptsRoot, toolIds, rows, tallies);

        uint256 left = limit.left();
        if (charged > left) revert OperatorLimitExceeded(charged, left);
        limit.spend(charged);

        uint256 treasuryShare = modelCosts + _creditTools(toolIds, tallies);
        _credit(treasury, treasuryShare);
        emit BatchSettled(receiptsRoot, msg.sender, charged, treasuryShare);
    }

    /// @inheritdoc IContextRouter
    function pay(bytes16 toolId, uint256 amount, uint256 modelCost) external nonReentrant whenNotPaused {
        if (amount == 0) revert ZeroAmount();
        address payee = staking.payee(toolId);
        if (payee == address(0)) revert ToolNotPayable(toolId);
        uint256 total = amount + modelCost;
        RollingLimit.State storage cap = _dailyCaps[msg.sender];
        if (cap.cap != 0) {
            uint256 left = cap.left();
            if (total > left) revert DailyCapExceeded(total, left);
            cap.spend(total);
        }
        emit Paid(msg.sender, toolId, amount, modelCost);
        _credit(treasury, modelCost + _creditTool(toolId, payee, amount));
        usdc.safeTransferFrom(msg.sender, address(this), total);
    }

    /// @inheritdoc IContextRouter
    function setDailyCap(uint48 cap) external {
        _dailyCaps[msg.sender].cap = cap;
        emit DailyCapSet(msg.sender, cap);
    }

    /// @inheritdoc IContextRouter
    function setOperatorLimit(address operator, uint48 limit) external restricted {
        if (limit > MAX_OPERATOR_LIMIT) revert LimitOutOfBounds(limit, MAX_OPERATOR_LIMIT);
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

    /// @inheritdoc IContextRouter
    function settledAt(bytes32 receiptsRoot) external view returns (uint256 timestamp) {
        return _whenSettled(receiptsRoot);
    }

    /// @inheritdoc IContextRouter
    function operatorLimit(address operator) external view returns (uint256 limit, uint256 left) {
        RollingLimit.State storage state = _operatorLimits[operator];
        return (state.cap, state.left());
    }

    /// @inheritdoc IContextRouter
    function dailyCap(address payer) public view returns (uint256 cap, uint256 left) {
        RollingLimit.State storage state = _dailyCaps[payer];
        return (state.cap, state.cap == 0 ? type(uint256).max : state.left());
    }

    /// @inheritdoc IContextRouter
    function spendable(address payer) public view returns (Spendable memory result) {
        result.balance = usdc.balanceOf(payer);
        result.allowance = usdc.allowance(payer, address(this));
        (, result.dailyCapLeft) = dailyCap(payer);
        if (!_tokenUnavailable() && !usdc.isBlacklisted(payer)) {
            result.amount = Math.min(Math.min(result.balance, result.allowance), result.dailyCapLeft);
        }
    }

    /// @inheritdoc IContextRouter
    function spendableMany(address[] calldata payers) external view returns (Spendable[] memory results) {
        results = new Spendable[](payers.length);
        for (uint256 i = 0; i < payers.length; ++i) {
            results[i] = spendable(payers[i]);
        }
    }

    /// @dev Charges every row once and tallies what its tools earned.
    function _chargeRows(
        bytes32 receiptsRoot,
        bytes16[] calldata toolIds,
        bytes calldata rows,
        uint256[] memory tallies
    ) private returns (uint256 charged, uint256 modelCosts) {
        uint256 end = 0;
        // No sum here can overflow: every amount has 48 bits, and there are far fewer than 2^200 of them.
        unchecked {
            while (end < rows.length) {
                (address payer, uint256 modelCost, uint256 lineCount) = rows.head(end);
                uint256 start = end + BatchRows.HEAD_BYTES;
                end = start + lineCount * BatchRows.LINE_BYTES;
                if (end > rows.length) revert RowsTruncated(end, rows.length);

                (uint256 total, bool refused) = _tally(rows, start, end, tallies);
                total += modelCost;
                if (refused) _reportRefusals(receiptsRoot, toolIds, rows, payer, start, end, tallies);
                if (_charge(receiptsRoot, payer, total)) {
                    charged += total;
                    modelCosts += modelCost;
                } else {
                    _untally(rows, start, end, tallies);
                }
            }
        }
    }

    /// @dev Adds a row's lines to the tallies. Returns their total, and whether a line was left out.
    function _tally(
        bytes calldata rows,
        uint256 start,
        uint256 end,
        uint256[] memory tallies
    ) private pure returns (uint256 total, bool refused) {
        unchecked {
            for (uint256 offset = start; offset < end; offset += BatchRows.LINE_BYTES) {
                (uint256 index, uint256 amount) = rows.line(offset);
                uint256 added = tallies.add(index, amount);
                if (added != amount) refused = true;
                total += added;
            }
        }
    }

    /// @dev Takes the lines of a row that failed out of the tallies again. Adding first and undoing the rare failure
    /// reads the lines of a good row once instead of twice.
    function _untally(bytes calldata rows, uint256 start, uint256 end, uint256[] memory tallies) private pure {
        for (uint256 offset = start; offset < end; offset += BatchRows.LINE_BYTES) {
            (uint256 index, uint256 amount) = rows.line(offset);
            tallies.subtract(index, amount);
        }
    }

    function _reportRefusals(
        bytes32 receiptsRoot,
        bytes16[] calldata toolIds,
        bytes calldata rows,
        address payer,
        uint256 start,
        uint256 end,
        uint256[] memory tallies
    ) private {
        for (uint256 offset = start; offset < end; offset += BatchRows.LINE_BYTES) {
            (uint256 index, uint256 amount) = rows.line(offset);
            (address payee, ) = tallies.read(index);
            if (payee != address(0)) continue;
            bool listed = staking.tool(toolIds[index]).owner != address(0);
            LineRefusal reason = listed ? LineRefusal.UnderStaked : LineRefusal.Unlisted;
            emit LineRefused(receiptsRoot, payer, toolIds[index], amount, reason);
        }
    }

    /// @dev Takes `amount` from `payer`, or reports why that failed. Whoever holds an operator's key cannot make a good
    /// row fail, by starving the transfer of gas or otherwise: a failure without a proven reason undoes the batch.
    function _charge(bytes32 receiptsRoot, address payer, uint256 amount) private returns (bool) {
        if (amount == 0) return true;
        RollingLimit.State storage cap = _dailyCaps[payer];
        bool capped = cap.cap != 0;
        ChargeFailure reason = ChargeFailure.DailyCap;
        if (!capped || amount <= cap.left()) {
            if (usdc.trySafeTransferFrom(payer, address(this), amount)) {
                if (capped) cap.spend(amount);
                return true;
            }
            reason = _explain(payer, amount);
        }
        emit ChargeFailed(receiptsRoot, payer, amount, reason);
        return false;
    }

    /// @dev Reads why the token refused to take `amount` from `payer`.
    function _explain(address payer, uint256 amount) private view returns (ChargeFailure) {
        if (_tokenUnavailable()) revert TokenUnavailable();
        if (usdc.isBlacklisted(payer)) return ChargeFailure.Blacklisted;
        if (usdc.allowance(payer, address(this)) < amount) return ChargeFailure.Allowance;
        if (usdc.balanceOf(payer) < amount) return ChargeFailure.Balance;
        revert ChargeUnexplained(payer, amount);
    }

    /// @dev Credits every tool that earned something; returns the protocol's share of it all.
    function _creditTools(
        bytes16[] calldata toolIds,
        uint256[] memory tallies
    ) private returns (uint256 protocolShares) {
        for (uint256 i = 0; i < tallies.length; ++i) {
            (address payee, uint256 amount) = tallies.read(i);
            if (amount != 0) protocolShares += _creditTool(toolIds[i], payee, amount);
        }
    }

    /// @dev Credits a tool's payee; returns the protocol's share.
    function _creditTool(bytes16 toolId, address payee, uint256 amount) private returns (uint256 protocolShare) {
        uint256 developerShare;
        (developerShare, protocolShare) = RevenueSplit.split(amount);
        _credit(payee, developerShare);
        emit ToolPaid(toolId, payee, amount, developerShare);
    }

    function _setOperatorLimit(address operator, uint48 limit) private {
        _operatorLimits[operator].cap = limit;
        emit OperatorLimitSet(operator, limit);
    }

    /// @dev Whether the token would refuse every payer alike.
    function _tokenUnavailable() private view returns (bool) {
        return usdc.paused() || usdc.isBlacklisted(address(this));
    }
}
