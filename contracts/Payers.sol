// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What the router knows of every payer, in one storage slot
/// @notice Each row reads it. The prepaid balance lies beside what the payer has decided, so that a row that draws on
/// it touches this slot alone. A daily cap, which few payers have, is in a slot of its own: here is only whether there
/// is one.
abstract contract Payers {
    /// @dev The first three are what IPrepaid.Prepaid is made of.
    struct Payer {
        uint48 balance;
        uint48 refunding;
        uint40 readyAt;
        bool hasDailyCap;
        bool consentRequired;
    }

    mapping(address payer => Payer) internal _payers;
}
