// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @dev Why a payer's row was not charged. Every reason was read from the token or from the router's own storage, or
/// is a signature that was checked.
enum ChargeFailure {
    // It did not fail.
    None,
    // The payer's daily cap leaves too little.
    DailyCap,
    // The token has blacklisted the payer.
    Blacklisted,
    // The payer allows the router too little.
    Allowance,
    // The payer has too little.
    Balance,
    // The payer's prepaid balance is too small.
    Prepaid,
    // The payer demands consent, and the row draws on no budget.
    ConsentRequired,
    // The payer has not signed this budget for this router on this chain.
    BudgetForged,
    // The budget leaves too little, or is not known.
    BudgetExceeded,
    // The budget was good until an earlier moment, or was ended by the payer.
    BudgetExpired,
    // The budget is for other tools.
    BudgetTools
}
