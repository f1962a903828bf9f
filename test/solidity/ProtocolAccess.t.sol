// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IContextRouter} from "../../contracts/interfaces/IContextRouter.sol";
import {IToolStaking} from "../../contracts/interfaces/IToolStaking.sol";
import {vm} from "./support/Cheats.sol";
import {Rng} from "./support/Rng.sol";
import {Parties} from "./support/Protocol.sol";
import {ProtocolTest} from "./support/ProtocolTest.sol";

/// @notice A thief with the admin's key announces anything at all, waits, and executes what can be executed, again and
/// again. However it goes, nobody ever acts for the admin in less than eight days.
contract ProtocolAccessTest is ProtocolTest {
    address private constant THIEF = address(0xBAD);

    function testFuzz_noSequenceOfAnnouncedOperationsShortensTheAdminsDelay(uint256 seed) public {
        Rng memory rng = Rng(seed);
        for (uint256 step = 0; step < 12; ++step) {
            (address target, bytes memory data) = _randomOperation(rng);
            address caller = rng.happens(80) ? Parties.ADMIN : THIEF;
            if (_try(caller, address(manager), abi.encodeCall(IAccessManager.schedule, (target, data, 0)))) {
                vm.warp(vm.getBlockTimestamp() + 8 days);
                // Either way of executing what was announced.
                bool direct = rng.happens(30);
                bytes memory call = direct ? data : abi.encodeCall(IAccessManager.execute, (target, data));
                _try(caller, direct ? target : address(manager), call);
            }
            _checkThatNobodyIsFaster();
        }
    }

    /// @dev The same life with the one thing in it that is allowed, without which the above would hold for nothing.
    function test_anAdminWithEightDaysCanBeNamed() public {
        bytes memory grant = abi.encodeCall(IAccessManager.grantRole, (0, THIEF, 8 days));
        vm.prank(Parties.ADMIN);
        manager.schedule(address(manager), grant, 0);
        vm.warp(vm.getBlockTimestamp() + 8 days);
        vm.prank(Parties.ADMIN);
        manager.execute(address(manager), grant);
        (bool isAdmin, uint32 delay) = manager.hasRole(0, THIEF);
        vm.assertTrue(isAdmin && delay == 8 days, "named, and as slow");
        _checkThatNobodyIsFaster();
    }

    function _checkThatNobodyIsFaster() private view {
        address[7] memory everybody = [
            THIEF,
            Parties.ADMIN,
            Parties.GUARDIAN,
            Parties.ADJUDICATOR,
            Parties.COURT,
            Parties.OPERATOR,
            address(this)
        ];
        bytes4[3] memory slow = [
            IContextRouter.setOperatorLimit.selector,
            IToolStaking.setParameters.selector,
            IAccessManaged.setAuthority.selector
        ];
        for (uint256 i = 0; i < everybody.length; ++i) {
            (bool isAdmin, uint32 delay) = manager.hasRole(0, everybody[i]);
            vm.assertTrue(!isAdmin || delay >= 8 days, "no admin is faster");
            for (uint256 j = 0; j < slow.length; ++j) {
                _checkSlow(everybody[i], address(router), slow[j]);
                _checkSlow(everybody[i], address(staking), slow[j]);
            }
        }
        for (uint64 role = 0; role <= 8; ++role) {
            vm.assertEq(manager.getRoleAdmin(role), 0, "every role is granted by the admin");
            vm.assertEq(manager.getRoleGrantDelay(role), 0, "no grant lies in wait");
        }
        vm.assertEq(IAccessManaged(address(router)).authority(), address(manager), "the router's authority");
        vm.assertEq(IAccessManaged(address(staking)).authority(), address(manager), "the registry's authority");
        vm.assertTrue(!manager.isTargetClosed(address(router)), "the guardian is armed");
    }

    function _checkSlow(address account, address target, bytes4 selector) private view {
        (bool immediate, uint32 delay) = manager.canCall(account, target, selector);
        vm.assertTrue(!immediate && (delay == 0 || delay >= 8 days), "what is the admin's takes eight days");
    }

    /// @dev Anything that AccessManager or the contracts offer, mostly with arguments that would help a thief.
    function _randomOperation(Rng memory rng) private view returns (address target, bytes memory data) {
        address account = rng.happens(60) ? THIEF : Parties.ADMIN;
        uint64 role = uint64(rng.between(0, 5));
        uint32 delay = uint32(rng.happens(50) ? rng.between(0, 8 days) : 8 days + rng.between(0, 8 days));
        target = address(manager);
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = rng.happens(50) ? IContextRouter.setOperatorLimit.selector : IToolStaking.setParameters.selector;
        address contract_ = rng.happens(50) ? address(router) : address(staking);
        uint256 kind = rng.between(0, 10);
        if (kind == 0) data = abi.encodeCall(IAccessManager.grantRole, (role, account, delay));
        else if (kind == 1) data = abi.encodeCall(IAccessManager.grantRole, (0, account, delay));
        else if (kind == 2) data = abi.encodeCall(IAccessManager.setRoleAdmin, (role, uint64(rng.between(0, 8))));
        else if (kind == 3) data = abi.encodeCall(IAccessManager.setRoleGuardian, (role, 5));
        else if (kind == 4) data = abi.encodeCall(IAccessManager.setGrantDelay, (role, delay));
        else if (kind == 5) data = abi.encodeCall(IAccessManager.setTargetAdminDelay, (contract_, delay));
        else if (kind == 6) data = abi.encodeCall(IAccessManager.setTargetClosed, (contract_, true));
        else if (kind == 7) data = abi.encodeCall(IAccessManager.setTargetFunctionRole, (contract_, selectors, role));
        else if (kind == 8) data = abi.encodeCall(IAccessManager.updateAuthority, (contract_, address(this)));
        else if (kind == 9) {
            target = contract_;
            data = abi.encodeCall(IAccessManaged.setAuthority, (address(this)));
        } else data = abi.encodeCall(IAccessManager.revokeRole, (uint64(rng.between(1, 5)), account));
    }

    function _try(address sender, address target, bytes memory data) private returns (bool ok) {
        vm.prank(sender);
        (ok, ) = target.call(data);
    }
}
