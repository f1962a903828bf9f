// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Payers} from "./Payers.sol";
import {ChargeFailure} from "./interfaces/ChargeFailure.sol";
import {IBudgets} from "./interfaces/IBudgets.sol";
import {BatchRows} from "./libraries/BatchRows.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title Budgets that payers sign
/// @notice See IBudgets.
abstract contract Budgets is Payers, IBudgets {
    using BatchRows for bytes;

    /// @inheritdoc IBudgets
    uint256 public constant BUDGET_GRACE = 1 days;

    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant NAME_HASH = keccak256("ContextRouter");
    bytes32 private constant VERSION_HASH = keccak256("1");

    bytes32 private constant BUDGET_TYPEHASH = keccak256(
        "Budget(address payer,uint64 id,uint256 maxSpend,uint256 validUntil,bytes16[] tools)"
    );

    /// @dev The hash of an empty list of tools.
    bytes32 private constant NO_TOOLS = keccak256("");

    /// @dev Where the fields of a packed budget begin.
    uint256 private constant SPENT_SHIFT = 48;
    uint256 private constant VALID_UNTIL_SHIFT = 96;
    uint256 private constant ENDS_AT_SHIFT = 136;
    uint256 private constant IS_FOR_TOOLS_SHIFT = 176;

    /// @dev A budget's key is its payer above its id: one hash finds it. It is packed by hand, because the compiler
    /// writes a struct field by field, each time with a read of the slot.
    mapping(uint256 key => uint256 packed) private _budgets;
    mapping(uint256 key => bytes32) private _toolsHashes;

    /// @inheritdoc IBudgets
    function endBudget(uint64 id) external {
        uint256 key = _keyOf(msg.sender, id);
        Budget memory budget = _unpack(_budgets[key]);
        if (budget.endsAt != 0) revert BudgetAlreadyEnded(id, budget.endsAt);
        // A time of 40 bits lasts for another 34,000 years.
        budget.endsAt = uint40(block.timestamp + BUDGET_GRACE);
        _budgets[key] = _pack(budget);
        emit BudgetEnded(msg.sender, id, budget.endsAt);
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
        uint256 key = _keyOf(payer, id);
        return (_unpack(_budgets[key]), _toolsHashes[key]);
    }

    /// @inheritdoc IBudgets
    function budgetDigest(
        address payer,
        uint64 id,
        uint256 maxSpend,
        uint256 validUntil,
        bytes16[] calldata tools
    ) external view returns (bytes32) {
        return _digest(payer, id, maxSpend, validUntil, keccak256(abi.encodePacked(tools)));
    }

    /// @dev Takes `amount` out of the budget that a row names, after raising it if the row brings a newer signature;
    /// or says why that cannot be. The caller undoes it with `_returnToBudget` if the money cannot be had.
    function _drawOnBudget(
        bytes calldata rows,
        BatchRows.Row memory row,
        bytes16[] calldata toolIds,
        uint256 amount
    ) internal returns (ChargeFailure failure) {
        uint256 key = _keyOf(row.payer, row.budgetId);
        Budget memory budget = _unpack(_budgets[key]);
        bytes32 toolsHash = _hashTools(rows, row);
        bool isRaised = row.flags & BatchRows.SIGNED != 0 && row.maxSpend > budget.maxSpend;
        if (isRaised) {
            if (!_isSigned(rows, row, toolsHash)) return ChargeFailure.BudgetForged;
            _raise(key, budget, row, toolsHash);
        }
        // In full width: both have 48 bits.
        if (uint256(budget.spent) + amount > budget.maxSpend) {
            failure = ChargeFailure.BudgetExceeded;
        } else if (_hasEnded(budget.validUntil, budget.endsAt)) {
            failure = ChargeFailure.BudgetExpired;
        } else if (budget.isForTools && (toolsHash != _toolsHashes[key] || !_isForLines(rows, row, toolIds))) {
            failure = ChargeFailure.BudgetTools;
        }
        if (failure != ChargeFailure.None && !isRaised && row.flags & BatchRows.SIGNED != 0) {
            failure = _whyNotOnOlder(rows, row, toolIds, budget, toolsHash, amount);
        }
        if (failure == ChargeFailure.None) {
            unchecked {
                // It is within the budget, which has 48 bits.
                budget.spent += uint48(amount);
            }
        }
        // What the newest signature says is kept even if the row fails: it is the payer's word either way.
        if (isRaised || failure == ChargeFailure.None) _budgets[key] = _pack(budget);
    }

    /// @dev Gives back what a row that failed afterwards has drawn.
    function _returnToBudget(BatchRows.Row memory row, uint256 amount) internal {
        _budgets[_keyOf(row.payer, row.budgetId)] -= amount << SPENT_SHIFT;
    }

    /// @dev Makes a budget what its newest signature says. The caller writes it down.
    function _raise(uint256 key, Budget memory budget, BatchRows.Row memory row, bytes32 toolsHash) private {
        bool isForTools = row.toolCount != 0;
        budget.maxSpend = uint48(row.maxSpend);
        budget.validUntil = uint40(row.validUntil);
        if (isForTools || budget.isForTools) _toolsHashes[key] = isForTools ? toolsHash : bytes32(0);
        budget.isForTools = isForTools;
        emit BudgetRaised(row.payer, uint64(row.budgetId), row.maxSpend);
    }

    function _isSigned(bytes calldata rows, BatchRows.Row memory row, bytes32 toolsHash) private view returns (bool) {
        bytes32 digest = _digest(row.payer, row.budgetId, row.maxSpend, row.validUntil, toolsHash);
        return Signatures.isSignedBy(row.payer, digest, rows[row.signature:row.lines]);
    }

    function _digest(
        address payer,
        uint256 id,
        uint256 maxSpend,
        uint256 validUntil,
        bytes32 toolsHash
    ) private view returns (bytes32) {
        // The domain is computed each time: kept as immutable values, it would make the code depend on its address, and
        // nobody could build it again and compare.
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this)));
        bytes32 budget = keccak256(abi.encode(BUDGET_TYPEHASH, payer, id, maxSpend, validUntil, toolsHash));
        return MessageHashUtils.toTypedDataHash(domain, budget);
    }

    /// @dev Why nothing can be drawn under the signature that a row brings, although a higher one was brought before
    /// it: for less time, or for other tools. That one takes nothing back. A payer who could end a budget in that way,
    /// without the grace, would leave unpaid what was delivered under it.
    function _whyNotOnOlder(
        bytes calldata rows,
        BatchRows.Row memory row,
        bytes16[] calldata toolIds,
        Budget memory budget,
        bytes32 toolsHash,
        uint256 amount
    ) private view returns (ChargeFailure) {
        if (uint256(budget.spent) + amount > row.maxSpend) return ChargeFailure.BudgetExceeded;
        if (!_isSigned(rows, row, toolsHash)) return ChargeFailure.BudgetForged;
        if (_hasEnded(row.validUntil, budget.endsAt)) return ChargeFailure.BudgetExpired;
        bool isForRow = row.toolCount == 0 || _isForLines(rows, row, toolIds);
        return isForRow ? ChargeFailure.None : ChargeFailure.BudgetTools;
    }

    function _hasEnded(uint256 validUntil, uint256 endsAt) private view returns (bool) {
        return block.timestamp > (endsAt == 0 ? validUntil : Math.min(validUntil, endsAt));
    }

    /// @dev The list of tools that a row brings, as EIP-712 hashes it: a word for each.
    function _hashTools(bytes calldata rows, BatchRows.Row memory row) private pure returns (bytes32) {
        if (row.toolCount == 0) return NO_TOOLS;
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
            uint256 i = 0;
            while (i < row.toolCount && rows.tool(row, i) != toolIds[index]) ++i;
            if (i == row.toolCount) return false;
        }
        return true;
    }

    function _pack(Budget memory budget) private pure returns (uint256) {
        return
            budget.maxSpend |
            (uint256(budget.spent) << SPENT_SHIFT) |
            (uint256(budget.validUntil) << VALID_UNTIL_SHIFT) |
            (uint256(budget.endsAt) << ENDS_AT_SHIFT) |
            (uint256(budget.isForTools ? 1 : 0) << IS_FOR_TOOLS_SHIFT);
    }

    function _unpack(uint256 packed) private pure returns (Budget memory budget) {
        budget.maxSpend = uint48(packed);
        budget.spent = uint48(packed >> SPENT_SHIFT);
        budget.validUntil = uint40(packed >> VALID_UNTIL_SHIFT);
        budget.endsAt = uint40(packed >> ENDS_AT_SHIFT);
        budget.isForTools = packed >> IS_FOR_TOOLS_SHIFT != 0;
    }

    function _keyOf(address payer, uint256 id) private pure returns (uint256) {
        return (uint256(uint160(payer)) << 64) | id;
    }
}
