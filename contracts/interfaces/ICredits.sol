// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {IUSDC} from "./IUSDC.sol";

/// @title Money that is owed and waits to be collected
/// @notice What an account earns is credited first and leaves in a step of its own, so that nobody's address can
/// stand in the way of somebody else's payment. Nothing here can be paused.
interface ICredits {
    /// @notice `amount` of `account`'s credit was sent to `to`.
    event Claimed(address indexed account, address indexed to, uint256 amount);

    /// @notice The token refused to send `amount` to `account`; the credit stands as before.
    event PayoutFailed(address indexed account, uint256 amount);

    /// @notice `account` has no credit.
    error NothingToClaim(address account);

    /// @notice `to` would keep the money out of everybody's reach.
    error InvalidRecipient(address to);

    /// @notice Nothing is not an amount.
    error ZeroAmount();

    /// @notice The token that everything is counted in.
    function usdc() external view returns (IUSDC);

    /// @notice What `account` can claim, in micro-USDC.
    function creditOf(address account) external view returns (uint256 amount);

    /// @notice Sends the caller's whole credit to the caller.
    function claim() external returns (uint256 amount);

    /// @notice Sends the caller's whole credit to `to`. The way out for an account that the token has blacklisted.
    function claimTo(address to) external returns (uint256 amount);

    /// @notice Pushes the credits of many accounts to them; anybody may pay the gas. An account without credit is
    /// passed over, and one that the token refuses keeps its credit and is reported in `PayoutFailed`.
    /// @return paid The sum that was sent.
    function payout(address[] calldata accounts) external returns (uint256 paid);
}
