// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IProtocolAccess} from "./interfaces/IProtocolAccess.sol";

/// @title ProtocolAccess
/// @notice See IProtocolAccess. OpenZeppelin's AccessManager with less in it: what could shorten the admin's delay, or
/// hide somebody who acts in its place, is refused to everybody, so that reading who holds a role is reading it all.
contract ProtocolAccess is AccessManager, IProtocolAccess {
    /// @inheritdoc IProtocolAccess
    uint32 public constant MIN_ADMIN_DELAY = 8 days;

    /// @inheritdoc IProtocolAccess
    uint64 public constant GUARDIAN_ROLE = 1;

    /// @inheritdoc IProtocolAccess
    uint64 public constant ADJUDICATOR_ROLE = 2;

    /// @inheritdoc IProtocolAccess
    uint64 public constant COURT_ROLE = 3;

    /// @param deployer The admin until it has wired the roles and renounced its own. It alone has no delay.
    constructor(address deployer) AccessManager(deployer) {}

    /// @inheritdoc IProtocolAccess
    function suspend(uint64 roleId, address account) external onlyAuthorized {
        if (roleId != ADJUDICATOR_ROLE && roleId != COURT_ROLE) revert RoleNotSuspendable(roleId);
        if (!_revokeRole(roleId, account)) revert RoleNotHeld(roleId, account);
    }

    /// @dev An admin leaves as it came, announced: a thief with its key cannot leave the protocol without one. The
    /// deployer, who has no delay, goes at once.
    function renounceRole(uint64 roleId, address callerConfirmation) public override {
        (, uint32 delay) = hasRole(ADMIN_ROLE, msg.sender);
        if (roleId == ADMIN_ROLE && delay != 0) revert AdminCannotRenounce(msg.sender);
        super.renounceRole(roleId, callerConfirmation);
    }

    /// @dev A contract stays under this authority, because another one would have no delay.
    function canCall(
        address caller,
        address target,
        bytes4 selector
    ) public view override returns (bool immediate, uint32 delay) {
        if (selector == IAccessManaged.setAuthority.selector) return (false, 0);
        return super.canCall(caller, target, selector);
    }

    /// @dev The other way to the same.
    function updateAuthority(address, address) public pure override {
        revert WiringIsFixed();
    }

    /// @dev Only the deployer says which functions belong to which role: no other admin is without delay.
    function setTargetFunctionRole(address target, bytes4[] calldata selectors, uint64 roleId) public override {
        (bool isAdmin, uint32 delay) = hasRole(ADMIN_ROLE, msg.sender);
        if (!isAdmin || delay != 0) revert WiringIsFixed();
        super.setTargetFunctionRole(target, selectors, roleId);
    }

    /// @dev An admin waits, and nobody holds two roles: each of them checks another.
    function _grantRole(
        uint64 roleId,
        address account,
        uint32 grantDelay,
        uint32 executionDelay
    ) internal override returns (bool) {
        // While the constructor runs, this contract has no code yet.
        bool isDeployer = address(this).code.length == 0;
        if (roleId == ADMIN_ROLE && executionDelay < MIN_ADMIN_DELAY && !isDeployer) {
            revert AdminDelayTooShort(executionDelay, MIN_ADMIN_DELAY);
        }
        for (uint64 other = ADMIN_ROLE; other <= COURT_ROLE; ++other) {
            (uint48 since, , , ) = getAccess(other, account);
            if (other != roleId && since != 0) revert RoleHeld(other, account);
        }
        return super._grantRole(roleId, account, grantDelay, executionDelay);
    }

    /// @dev The guardian can cancel whatever is scheduled, except who is to be guardian: a thief with its key would
    /// otherwise stay for good.
    function _canCancel(address caller, address target, bytes calldata data) internal view override returns (bool) {
        if (super._canCancel(caller, target, data)) return true;
        (bool isGuardian, ) = hasRole(GUARDIAN_ROLE, msg.sender);
        return isGuardian && !_namesGuardian(target, data);
    }

    /// @dev Whether a call grants or revokes the guardian's role.
    function _namesGuardian(address target, bytes calldata data) private view returns (bool) {
        bytes4 selector = bytes4(data[0:4]);
        if (target != address(this)) return false;
        if (selector != this.grantRole.selector && selector != this.revokeRole.selector) return false;
        return abi.decode(data[0x04:0x24], (uint64)) == GUARDIAN_ROLE;
    }

    /// @dev Every role is granted and taken by the admin.
    function _setRoleAdmin(uint64, uint64) internal pure override {
        revert WiringIsFixed();
    }

    /// @dev Who may cancel is said above.
    function _setRoleGuardian(uint64, uint64) internal pure override {
        revert WiringIsFixed();
    }

    /// @dev A grant takes effect when it is executed, so that no role can lie in wait.
    function _setGrantDelay(uint64, uint32) internal pure override {
        revert WiringIsFixed();
    }

    /// @dev The delay of the admin is the only one.
    function _setTargetAdminDelay(address, uint32) internal pure override {
        revert WiringIsFixed();
    }

    /// @dev A closed target would disarm the guardian.
    function _setTargetClosed(address, bool) internal pure override {
        revert WiringIsFixed();
    }
}
