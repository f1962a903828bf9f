// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {IContextRouter} from "../../../contracts/interfaces/IContextRouter.sol";
import {ICharges} from "../../../contracts/court/interfaces/ICharges.sol";
import {IPenalties} from "../../../contracts/court/interfaces/IPenalties.sol";
import {IReceiptCourt} from "../../../contracts/court/interfaces/IReceiptCourt.sol";
import {ICredits} from "../../../contracts/interfaces/ICredits.sol";
import {IFiatToken} from "../../../contracts/interfaces/IFiatToken.sol";
import {IOperatorBonds} from "../../../contracts/interfaces/IOperatorBonds.sol";
import {IProtocolAccess} from "../../../contracts/interfaces/IProtocolAccess.sol";
import {IToolStaking} from "../../../contracts/interfaces/IToolStaking.sol";
import {vm} from "./Cheats.sol";
import {Circle} from "./Circle.sol";
import {Parties, Protocol} from "./Protocol.sol";

/// @title The protocol on the real USDC, as `scripts/protocol/connectProtocol.ts` deploys it
abstract contract ProtocolTest {
    uint64 private constant ADMIN_ROLE = 0;
    uint64 private constant GUARDIAN_ROLE = 1;
    uint64 private constant ADJUDICATOR_ROLE = 2;
    uint64 private constant COURT_ROLE = 3;
    uint32 private constant ADMIN_DELAY = 8 days;

    IFiatToken internal usdc;
    IAccessManager internal manager;
    IToolStaking internal staking;
    IContextRouter internal router;
    IOperatorBonds internal bonds;
    IReceiptCourt internal court;

    function setUp() public virtual {
        // A time of day that is not the start of a period.
        vm.warp(1_750_000_123);
        usdc = Circle.deployUsdc(Parties.PROXY_ADMIN, Parties.CIRCLE);
        manager = IAccessManager(deploy("ProtocolAccess", abi.encode(address(this))));
        bytes memory stakingArguments = abi.encode(manager, usdc, Parties.INSURANCE);
        staking = IToolStaking(deploy("ToolStaking", stakingArguments));
        bonds = IOperatorBonds(deploy("OperatorBonds", abi.encode(manager, usdc)));
        router = IContextRouter(deploy("ContextRouter", abi.encode(manager, staking, bonds, Parties.TREASURY)));
        court = IReceiptCourt(deploy("ReceiptCourt", abi.encode(manager, router)));

        _give(address(manager), IProtocolAccess.suspend.selector, GUARDIAN_ROLE);
        _give(address(router), IContextRouter.pause.selector, GUARDIAN_ROLE);
        _give(address(router), IContextRouter.unpause.selector, GUARDIAN_ROLE);
        _give(address(router), IContextRouter.suspendOperator.selector, GUARDIAN_ROLE);
        _give(address(staking), IToolStaking.vetoSlash.selector, GUARDIAN_ROLE);
        _give(address(staking), IToolStaking.proposeSlash.selector, ADJUDICATOR_ROLE);
        _give(address(staking), IToolStaking.executeSlash.selector, ADJUDICATOR_ROLE);
        _give(address(staking), IToolStaking.dismissSlash.selector, ADJUDICATOR_ROLE);
        _give(address(staking), IPenalties.penalize.selector, COURT_ROLE);
        _give(address(staking), IPenalties.compensate.selector, COURT_ROLE);
        _give(address(court), ICharges.noteRefund.selector, COURT_ROLE);

        address[5] memory parts = [address(manager), address(staking), address(bonds), address(router), address(court)];
        for (uint256 i = 0; i < parts.length; ++i) _give(parts[i], ICredits.claim.selector, type(uint64).max);

        bonds.nameCourt(address(court));
        router.setOperatorLimit(Parties.OPERATOR, uint48(router.MAX_OPERATOR_LIMIT()));
        manager.grantRole(GUARDIAN_ROLE, Parties.GUARDIAN, 0);
        manager.grantRole(ADJUDICATOR_ROLE, Parties.ADJUDICATOR, 0);
        manager.grantRole(COURT_ROLE, Parties.COURT, 0);
        manager.grantRole(ADMIN_ROLE, Parties.ADMIN, ADMIN_DELAY);
        manager.renounceRole(ADMIN_ROLE, address(this));
        uint256 bond = bonds.requiredBond(router.MAX_OPERATOR_LIMIT());
        postBond(Parties.OPERATOR, bond);
        postBond(Parties.SECOND_OPERATOR, bond);
    }

    /// @notice Pledges new USDC for an operator.
    function postBond(address operator, uint256 amount) internal {
        mint(operator, amount);
        approve(operator, address(bonds), amount);
        vm.prank(operator);
        bonds.post(operator, amount);
    }

    function _give(address target, bytes4 selector, uint64 role) private {
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = selector;
        manager.setTargetFunctionRole(target, selectors, role);
    }

    function protocol() internal view returns (Protocol memory) {
        return Protocol(usdc, manager, staking, router);
    }

    /// @notice Changes the operator's limit as the admin does it, which takes eight days.
    function setOperatorLimit(uint48 limit) internal {
        _administer(address(router), abi.encodeCall(IContextRouter.setOperatorLimit, (Parties.OPERATOR, limit)));
    }

    /// @notice Changes the registry's parameters in the same way.
    function setParameters(IToolStaking.Parameters memory parameters) internal {
        _administer(address(staking), abi.encodeCall(IToolStaking.setParameters, (parameters)));
    }

    /// @notice Gives `account` new USDC.
    function mint(address account, uint256 amount) internal {
        vm.prank(Parties.CIRCLE);
        usdc.mint(account, amount);
    }

    function approve(address account, address spender, uint256 amount) internal {
        vm.prank(account);
        usdc.approve(spender, amount);
    }

    /// @notice Lists a tool of `owner` that pays `payout`, with new USDC as its stake.
    function list(
        address owner,
        bytes32 salt,
        uint256 price,
        address payout,
        uint256 stake
    ) internal returns (bytes16 toolId) {
        mint(owner, stake);
        approve(owner, address(staking), stake);
        vm.prank(owner);
        return staking.list(salt, price, payout, stake);
    }

    /// @notice Deploys a contract of this repository from the build. What is tested is then what is deployed, and the
    /// compiler need not weave its code into every test.
    function deploy(string memory name, bytes memory arguments) internal returns (address deployed) {
        bytes memory code = bytes.concat(vm.getCode(name), arguments);
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
        }
        vm.assertTrue(deployed != address(0), name);
    }

    function _administer(address target, bytes memory change) private {
        vm.prank(Parties.ADMIN);
        manager.schedule(target, change, 0);
        vm.warp(vm.getBlockTimestamp() + ADMIN_DELAY);
        vm.prank(Parties.ADMIN);
        manager.execute(target, change);
    }
}
