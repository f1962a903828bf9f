// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @title ProtocolAccess: who may do what
/// @notice Four roles. The admin grants and revokes roles and sets limits and parameters, each time announced at least
/// 8 days before; the guardian acts at once and only to stop something; the adjudicator proposes and executes slashes;
/// a court is a contract that takes bounded penalties on proof. Which functions belong to which role is said once, by
/// the deployer, before it renounces its own role. From then on no operation, announced or not, can shorten the admin's
/// delay, let anybody else act for it, or move a contract to another authority.
interface IProtocolAccess {
    error AdminDelayTooShort(uint32 delay, uint32 min);

    /// @notice An admin is revoked by the admin, after the delay.
    error AdminCannotRenounce(address admin);

    /// @notice Which functions belong to which role, who grants it, and under whose authority a contract is, cannot be
    /// changed.
    error WiringIsFixed();

    /// @notice `account` holds another role already; the two check each other.
    error RoleHeld(uint64 roleId, address account);
    error RoleNotHeld(uint64 roleId, address account);

    /// @notice The guardian suspends those who can take something: adjudicators and courts.
    error RoleNotSuspendable(uint64 roleId);

    /// @notice The least time between announcing and executing anything that the admin does: a day more than a stake
    /// needs to leave.
    function MIN_ADMIN_DELAY() external view returns (uint32);

    /// @notice Who may pause, suspend, veto and cancel, at once.
    function GUARDIAN_ROLE() external view returns (uint64);

    /// @notice Who may propose, execute and dismiss slashes.
    function ADJUDICATOR_ROLE() external view returns (uint64);

    /// @notice Contracts that take bounded penalties out of a stake on proof.
    function COURT_ROLE() external view returns (uint64);

    /// @notice Takes the role of an adjudicator or of a court away at once. Only the admin can give it back, after its
    /// delay.
    function suspend(uint64 roleId, address account) external;
}
