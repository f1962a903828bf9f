// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Payers} from "./Payers.sol";
import {ChargeFailure} from "./interfaces/ChargeFailure.sol";
import {IBudgets} from "./interfaces/IBudgets.sol";
import {BatchRows} from "./libraries/BatchRows.sol";
import {BudgetDigest} from "./libraries/BudgetDigest.sol";
import {BudgetState} from "./libraries/BudgetState.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title Budgets that payers sign
/// @notice See IBudgets.
abstract contract Budgets is Payers, IBudgets {
    using BatchRows for bytes;

    /// @inheritdoc IBudgets
    uint256 public constant BUDGET_GRACE = 1 days;

    /// @dev The hash of an empty list of tools.
    bytes32 private constant NO_TOOLS = keccak256("");

    /// @dev A budget, and the hash of its list of tools; zero if it is good for all.
    struct Entry {
        BudgetState state;
        bytes32 toolsHash;
    }

    /// @dev A budget's key is its payer above its id: one hash finds it.
    mapping(uint256 key => Entry) private _budgets;

    /// @inheritdoc IBudgets
    function endBudget(uint64 id) external {
        Entry storage entry = _budgets[_keyOf(msg.sender, id)];
        BudgetState budget = entry.state;
        if (budget.endsAt() != 0) revert BudgetAlreadyEnded(id, budget.endsAt());
        // A time of 40 bits lasts for another 34,000 years.
        uint40 endsAt = uint40(block.timestamp + BUDGET_GRACE);
        entry.state = budget.ended(endsAt);
        emit BudgetEnded(msg.sender, id, endsAt);
    }

    /// @inheritdoc IBudgets
    function setConsentRequired(bool required) external {
        _payers[msg.sender].consentRequired = required;
        emit ConsentRequiredSet(msg.sender, required);
    }

    /// @inheritdoc IBudgets
    function consentRequired(address payer) external view returns (bool) {
        return _payers[payer].consentRequired;
    }

    /// @inheritdoc IBudgets
    function budgetOf(address payer, uint64 id) external view returns (Budget memory budget, bytes32 toolsHash) {
        Entry storage entry = _budgets[_keyOf(payer, id)];
        return (entry.state.unpack(), entry.toolsHash);
    }

    /// @inheritdoc IBudgets
    function budgetDigest(
        address payer,
        uint64 id,
        uint256 maxSpend,
        uint256 validUntil,
        bytes16[] calldata tools
    ) external view returns (bytes32) {
        bytes32 toolsHash = keccak256(abi.encodePacked(tools));
        return BudgetDigest.digest(BudgetDigest.domain(), payer, id, maxSpend, validUntil, toolsHash);
    }

    /// @dev Takes `amount` out of the budget that a row names, after raising it if the row brings a newer signature;
    /// or says why that cannot be. The caller undoes it with `_returnToBudget` if the money cannot be had.
    function _drawOnBudget(
        bytes calldata rows,
        BatchRows.Row memory row,
        bytes16[] calldata toolIds,
        uint256 amount
    ) internal returns (ChargeFailure failure) {
        Entry storage entry = _budgets[_keyOf(row.payer, row.budgetId)];
        BudgetState budget = entry.state;
        bool isSigned = row.flags & BatchRows.SIGNED != 0;
        bool isRaised = isSigned && row.maxSpend > budget.maxSpend();
        bytes32 toolsHash = row.toolCount == 0 ? NO_TOOLS : _hashTools(rows, row);
        if (isRaised) {
            if (!_isSigned(rows, row, toolsHash)) return ChargeFailure.BudgetForged;
            budget = _raise(entry, budget, row, toolsHash);
        }
        // Two numbers of 48 bits.
        unchecked {
            if (budget.spent() + amount > budget.maxSpend()) {
                failure = ChargeFailure.BudgetExceeded;
            } else if (_hasEnded(budget.validUntil(), budget.endsAt())) {
                failure = ChargeFailure.BudgetExpired;
            } else if (budget.isForTools() && (toolsHash != entry.toolsHash || !_isForLines(rows, row, toolIds))) {
                failure = ChargeFailure.BudgetTools;
            } else {
                entry.state = budget.plus(amount);
                return ChargeFailure.None;
            }
        }
        if (isRaised) {
            // What the newest signature says is kept even if the row fails: it is the payer's word either way.
            entry.state = budget;
        } else if (isSigned) {
            failure = _whyNotOnOlder(rows, row, toolIds, budget, toolsHash, amount);
            if (failure == ChargeFailure.None) entry.state = budget.plus(amount);
        }
    }

    /// @dev Gives back what a row that failed afterwards has drawn.
    function _returnToBudget(BatchRows.Row memory row, uint256 amount) internal {
        Entry storage entry = _budgets[_keyOf(row.payer, row.budgetId)];
        entry.state = entry.state.minus(amount);
    }

    /// @dev A budget as its newest signature says. The caller writes it down.
    function _raise(
        Entry storage entry,
        BudgetState budget,
        BatchRows.Row memory row,
        bytes32 toolsHash
    ) private returns (BudgetState) {
        bool isForTools = row.toolCount != 0;
        if (isForTools || budget.isForTools()) entry.toolsHash = isForTools ? toolsHash : bytes32(0);
        emit BudgetRaised(row.payer, uint64(row.budgetId), row.maxSpend);
        return budget.raised(row.maxSpend, row.validUntil, isForTools);
    }

    function _isSigned(bytes calldata rows, BatchRows.Row memory row, bytes32 toolsHash) private view returns (bool) {
        if (row.domain == 0) row.domain = BudgetDigest.domain();
        address payer = row.payer;
        bytes32 digest = BudgetDigest.digest(row.domain, payer, row.budgetId, row.maxSpend, row.validUntil, toolsHash);
        return Signatures.isSignedBy(payer, digest, rows[row.signature:row.lines]);
    }

    /// @dev Why nothing can be drawn under the signature that a row brings, although a higher one was brought before
    /// it: for less time, or for other tools. That one takes nothing back. A payer who could end a budget in that way,
    /// without the grace, would leave unpaid what was delivered under it.
    function _whyNotOnOlder(
        bytes calldata rows,
        BatchRows.Row memory row,
        bytes16[] calldata toolIds,
        BudgetState budget,
        bytes32 toolsHash,
        uint256 amount
    ) private view returns (ChargeFailure) {
        if (budget.spent() + amount > row.maxSpend) return ChargeFailure.BudgetExceeded;
        if (!_isSigned(rows, row, toolsHash)) return ChargeFailure.BudgetForged;
        if (_hasEnded(row.validUntil, budget.endsAt())) return ChargeFailure.BudgetExpired;
        bool isForRow = row.toolCount == 0 || _isForLines(rows, row, toolIds);
        return isForRow ? ChargeFailure.None : ChargeFailure.BudgetTools;
    }

    function _hasEnded(uint256 validUntil, uint256 endsAt) private view returns (bool) {
        return block.timestamp > validUntil || (endsAt != 0 && block.timestamp > endsAt);
    }

    /// @dev The list of tools that a row brings, as EIP-712 hashes it: a word for each.
    function _hashTools(bytes calldata rows, BatchRows.Row memory row) private pure returns (bytes32) {
        bytes16[] memory tools = new bytes16[](row.toolCount);
        for (uint256 i = 0; i < tools.length; ++i) tools[i] = rows.tool(row, i);
        return keccak256(abi.encodePacked(tools));
    }

    /// @dev Whether each line of a row is for one of the tools that it brings.
    function _isForLines(
        bytes calldata rows,
        BatchRows.Row memory row,
        bytes16[] calldata toolIds
    ) private pure returns (bool) {
        for (uint256 offset = row.lines; offset < row.end; offset += BatchRows.LINE_BYTES) {
            (uint256 index, ) = rows.line(offset);
            if (!rows.hasTool(row, toolIds[index])) return false;
        }
        return true;
    }

    function _keyOf(address payer, uint256 id) private pure returns (uint256) {
        return (uint256(uint160(payer)) << 64) | id;
    }
}
