// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @title The account that gets what is nobody else's
/// @notice In the router that is the treasury, in the stake registry the insurance account. Another account takes its
/// place in two steps: the admin proposes it, after its delay, and the account itself accepts, which shows that it can
/// act. What the previous account was credited stays its own.
interface IBeneficiary {
    /// @notice The admin proposed `proposed` to take the place of `current`; zero takes an earlier proposal back.
    event BeneficiaryProposed(address indexed current, address indexed proposed);

    /// @notice `current` gets from now on what `previous` got.
    event BeneficiaryChanged(address indexed previous, address indexed current);

    error InvalidBeneficiary(address account);
    error NotPendingBeneficiary(address caller, address pending);

    /// @notice Who may accept to take the place; zero for nobody.
    function pendingBeneficiary() external view returns (address);

    /// @notice Proposes who is to take the place; zero takes an earlier proposal back.
    function proposeBeneficiary(address account) external;

    /// @notice Takes the place that was proposed to the caller.
    function acceptBeneficiary() external;
}
