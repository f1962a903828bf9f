// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IBudgets} from "../interfaces/IBudgets.sol";

/// @dev A budget in one storage slot: from the lowest bit on its limit (48 bits), what was spent (48), until when it is
/// good (40), when its payer ended it (40), and whether it is for some tools alone (1).
type BudgetState is uint256;

using BudgetStates for BudgetState global;

/// @title What the chain knows of a budget, in one word
/// @notice It is packed by hand, because the compiler writes a struct field by field, each time with a read of the
/// slot, and a copy of it in memory costs more than all that a row asks of it.
library BudgetStates {
    uint256 private constant SPENT_SHIFT = 48;
    uint256 private constant VALID_UNTIL_SHIFT = 96;
    uint256 private constant ENDS_AT_SHIFT = 136;
    uint256 private constant IS_FOR_TOOLS_SHIFT = 176;

    /// @dev What a signature does not say.
    uint256 private constant SPENT_AND_ENDS_AT =
        (uint256(type(uint48).max) << SPENT_SHIFT) | (uint256(type(uint40).max) << ENDS_AT_SHIFT);

    function maxSpend(BudgetState state) internal pure returns (uint256) {
        return uint48(BudgetState.unwrap(state));
    }

    function spent(BudgetState state) internal pure returns (uint256) {
        return uint48(BudgetState.unwrap(state) >> SPENT_SHIFT);
    }

    function validUntil(BudgetState state) internal pure returns (uint256) {
        return uint40(BudgetState.unwrap(state) >> VALID_UNTIL_SHIFT);
    }

    function endsAt(BudgetState state) internal pure returns (uint256) {
        return uint40(BudgetState.unwrap(state) >> ENDS_AT_SHIFT);
    }

    function isForTools(BudgetState state) internal pure returns (bool) {
        return BudgetState.unwrap(state) >> IS_FOR_TOOLS_SHIFT != 0;
    }

    /// @notice The same after `amount` was spent. The caller has seen that it is within a limit, which has 48 bits.
    function plus(BudgetState state, uint256 amount) internal pure returns (BudgetState) {
        unchecked {
            return BudgetState.wrap(BudgetState.unwrap(state) + (amount << SPENT_SHIFT));
        }
    }

    /// @notice The same before `amount` was spent, which it was in the same row.
    function minus(BudgetState state, uint256 amount) internal pure returns (BudgetState) {
        unchecked {
            return BudgetState.wrap(BudgetState.unwrap(state) - (amount << SPENT_SHIFT));
        }
    }

    /// @notice The same as a signature says. What was spent, and that the payer has ended it, stay. A limit has 48 bits
    /// and a time 40.
    function raised(
        BudgetState state,
        uint256 limit,
        uint256 until,
        bool forTools
    ) internal pure returns (BudgetState) {
        uint256 terms = limit | (until << VALID_UNTIL_SHIFT) | (uint256(forTools ? 1 : 0) << IS_FOR_TOOLS_SHIFT);
        return BudgetState.wrap((BudgetState.unwrap(state) & SPENT_AND_ENDS_AT) | terms);
    }

    /// @notice The same after its payer ended it.
    function ended(BudgetState state, uint40 moment) internal pure returns (BudgetState) {
        return BudgetState.wrap(BudgetState.unwrap(state) | (uint256(moment) << ENDS_AT_SHIFT));
    }

    function unpack(BudgetState state) internal pure returns (IBudgets.Budget memory) {
        return
            IBudgets.Budget({
                maxSpend: uint48(state.maxSpend()),
                spent: uint48(state.spent()),
                validUntil: uint40(state.validUntil()),
                endsAt: uint40(state.endsAt()),
                isForTools: state.isForTools()
            });
    }
}
