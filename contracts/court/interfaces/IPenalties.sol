// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @title What a court may take from a stake
/// @notice The registry of tools implements it, and lets a court call it. The registry bounds what can be taken, by
/// one penalty and, refunds included, from one tool in any 24 hours, so that a court that is wrong, or a tool's key
/// that was stolen, costs that much and no more.
interface IPenalties {
    /// @notice A court took `taken` from a tool's stake: `share` of it was credited to `beneficiary`, the rest to the
    /// insurance account.
    event Penalized(
        bytes16 indexed toolId,
        address indexed court,
        address indexed beneficiary,
        uint256 taken,
        uint256 share
    );

    /// @notice A court gave `amount` out of a tool's stake back to a payer.
    event Compensated(bytes16 indexed toolId, address indexed court, address indexed payer, uint256 amount);

    /// @notice A penalty, or all of a tool's penalties in 24 hours, would exceed the bound.
    error PenaltyOutOfBounds(uint256 amount, uint256 max);

    /// @notice The most that a penalty can take from a tool now.
    function penaltyLeft(bytes16 toolId) external view returns (uint256);

    /// @notice Takes `amount` from what a slash can reach, credits `share` of it to `beneficiary` and what is left to
    /// the insurance account. Reverts for a caller that is no court, and beyond the bounds; `share` is at most
    /// `amount`.
    function penalize(
        bytes16 toolId,
        uint256 amount,
        address beneficiary,
        uint256 share
    ) external returns (uint256 taken);

    /// @notice Credits a payer `amount` out of a tool's stake, which is what it has paid for a call, or as much of it
    /// as can be taken from the tool today; the court asks for the rest on another day. Reverts for a caller that is no
    /// court.
    function compensate(bytes16 toolId, uint256 amount, address payer) external returns (uint256 taken);
}
