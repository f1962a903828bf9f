// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {IReceiptCourt} from "../../contracts/court/interfaces/IReceiptCourt.sol";
import {ICharges} from "../../contracts/court/interfaces/ICharges.sol";
import {IContextRouter} from "../../contracts/interfaces/IContextRouter.sol";
import {ICredits} from "../../contracts/interfaces/ICredits.sol";
import {IOperatorBonds} from "../../contracts/interfaces/IOperatorBonds.sol";
import {BondsHandler} from "./support/BondsHandler.sol";
import {CallingToken} from "./support/CallingToken.sol";
import {vm} from "./support/Cheats.sol";
import {Parties} from "./support/Protocol.sol";
import {ProtocolTest} from "./support/ProtocolTest.sol";
import {Rng} from "./support/Rng.sol";
import {Line, Row, Rows} from "./support/Rows.sol";

/// @notice What holds of bonds and of the receipt court under everything that operators, honest or not, payers and provers may do.
contract BondsTest is ProtocolTest {
    /// @dev What the test runner wants to know: which functions of which contract to call.
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    uint48 private constant OPERATOR_LIMIT = 500e6;

    BondsHandler private _court;

    function setUp() public override {
        super.setUp();
        setOperatorLimit(OPERATOR_LIMIT);
        _court = BondsHandler(deploy("BondsHandler", abi.encode(protocol())));
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_court);
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(_court), _actions());
    }

    function invariant_bondsCoverPledgesCreditsAndDeposits() public view {
        uint256 owed = _court.openContests() * court.DEPOSIT();
        address[] memory accounts = _court.creditors();
        for (uint256 i = 0; i < accounts.length; ++i) owed += bonds.creditOf(accounts[i]);
        for (uint256 i = 0; i < 2; ++i) {
            IOperatorBonds.Bond memory bond = bonds.bondOf(_court.operators(i));
            vm.assertLe(bond.leaving, bond.amount, "what was asked back is a part of the bond");
            owed += bond.amount;
        }
        vm.assertEq(usdc.balanceOf(address(bonds)), owed, "the bonds' USDC is bonds, credits and deposits");
    }

    function invariant_bondNeverLeavesBefore21Days() public view {
        vm.assertEq(_court.withdrawalsTooEarly(), 0, "none left early, or with another amount");
    }

    function invariant_courtGivesBackNoMoreThanWasCharged() public view {
        for (uint256 i = 0; i < _court.batches(); ++i) {
            (bytes32 root, uint256 charged) = _court.batchAt(i);
            vm.assertLe(_court.givenBack(root), charged, "no row gave back more than it took");
        }
        vm.assertEq(_court.premiumsTooHigh(), 0, "no prover got more than the payer");
        vm.assertEq(_court.refundsGoneWrong(), 0, "no refund came early, or with another amount");
    }

    function invariant_whatABondPaysBeyondRefundsItPaysTwice() public view {
        vm.assertEq(_court.finesTooLow(), 0, "the insurance account gets as much as prover and contester");
    }

    function invariant_nobodySettlesWithoutABond() public view {
        vm.assertEq(_court.settledWithoutBond(), 0, "no batch was settled on a bond that is too low");
    }

    /// @dev One long life instead of many short ones, which comes through every path.
    function test_theBondsHoldThroughALongLifeThatReachesEveryPath() public {
        bytes4[] memory actions = _actions();
        Rng memory rng = Rng(8);
        for (uint256 step = 0; step < 4000; ++step) {
            bytes4 action = actions[rng.between(0, actions.length - 1)];
            bytes memory call = abi.encodeWithSelector(action, rng.between(0, type(uint256).max - 1));
            (bool ok, ) = address(_court).call(call);
            vm.assertTrue(ok, "no action reverts");
            if (step % 20 == 0) _checkAllInvariants();
        }
        _checkAllInvariants();
        _checkReached("settle", 100);
        _checkReached("contest", 50);
        _checkReached("answer", 10);
        _checkReached("answer in part", 1);
        _checkReached("refund", 10);
        _checkReached("refund what was owed", 1);
        _checkReached("prove a double charge", 10);
        _checkReached("prove within a batch", 1);
        _checkReached("return a deposit", 1);
        _checkReached("post", 50);
        _checkReached("request a bond", 50);
        _checkReached("withdraw a bond", 5);
        _checkReached("withdraw too early", 10);
        _checkReached("claim", 10);
        _checkReached("payout", 5);
    }

    /// @dev A token that calls back while it moves gets into none of the doors that money leaves by.
    function test_aTokenThatCallsBackEntersNothing() public {
        CallingToken token = new CallingToken();
        manager = IAccessManager(deploy("ProtocolAccess", abi.encode(address(this))));
        address registry = deploy("ToolStaking", abi.encode(manager, token, Parties.INSURANCE));
        bonds = IOperatorBonds(deploy("OperatorBonds", abi.encode(manager, token)));
        router = IContextRouter(deploy("ContextRouter", abi.encode(manager, registry, bonds, Parties.TREASURY)));
        court = IReceiptCourt(deploy("ReceiptCourt", abi.encode(manager, router)));
        bonds.nameCourt(address(court));
        router.setOperatorLimit(address(token), 500e6);
        token.mint(address(token), 1000e6);
        _mustAct(token, address(token), abi.encodeCall(CallingToken.approve, (address(bonds), type(uint256).max)));
        _mustAct(token, address(token), abi.encodeCall(CallingToken.approve, (address(router), type(uint256).max)));

        // A bond counts once, however often it is posted during its own transfer.
        bytes memory post = abi.encodeCall(IOperatorBonds.post, (address(token), 200e6));
        token.callBack(address(bonds), post);
        _mustAct(token, address(bonds), post);
        _checkRefused(token, "post");

        ICharges.Settlement memory settlement = _settle(token);
        bytes memory contest = abi.encodeCall(IReceiptCourt.contest, (settlement, address(token)));
        token.callBack(address(court), contest);
        _mustAct(token, address(court), contest);
        _checkRefused(token, "contest");
        vm.assertEq(token.balanceOf(address(bonds)), 201e6, "one bond and one deposit");

        vm.warp(vm.getBlockTimestamp() + 3 days);
        court.refund(bytes32(uint256(7)), address(token));
        bytes memory claim = abi.encodeCall(ICredits.claim, ());
        token.callBack(address(bonds), claim);
        _mustAct(token, address(bonds), claim);
        _checkRefused(token, "claim");
        vm.assertEq(token.balanceOf(address(bonds)), 150e6, "the rest of the bond");

        bytes memory request = abi.encodeCall(IOperatorBonds.requestWithdrawal, (address(token), 150e6));
        _mustAct(token, address(bonds), request);
        vm.warp(vm.getBlockTimestamp() + 21 days);
        bytes memory withdraw = abi.encodeCall(IOperatorBonds.withdraw, (address(token), address(0xBEEF)));
        token.callBack(address(bonds), withdraw);
        _mustAct(token, address(bonds), withdraw);
        _checkRefused(token, "withdraw");
        vm.assertEq(token.balanceOf(address(0xBEEF)), 150e6, "the bond, once");
    }

    /// @dev A batch that charges the token itself 50 USDC without receipts.
    function _settle(CallingToken token) private returns (ICharges.Settlement memory) {
        Row[] memory rows = new Row[](1);
        rows[0] = Row(address(token), 0, 50e6, new Line[](0));
        bytes memory call = abi.encodeCall(
            IContextRouter.settle,
            (bytes32(0), bytes32(uint256(7)), new bytes16[](0), Rows.encode(rows))
        );
        _mustAct(token, address(router), call);
        return ICharges.Settlement(address(token), call, new ICharges.Exception[](0));
    }

    function _mustAct(CallingToken token, address target, bytes memory call) private {
        (bool ok, ) = token.act(target, call);
        vm.assertTrue(ok, "the token may do this");
    }

    function _checkRefused(CallingToken token, string memory door) private view {
        vm.assertEq(token.calls(), 1, door);
        vm.assertEq(token.entered(), 0, door);
    }

    function _checkReached(bytes32 path, uint256 least) private view {
        vm.assertGe(_court.reached(path), least, string(abi.encodePacked(path)));
    }

    function _checkAllInvariants() private view {
        invariant_bondsCoverPledgesCreditsAndDeposits();
        invariant_bondNeverLeavesBefore21Days();
        invariant_courtGivesBackNoMoreThanWasCharged();
        invariant_whatABondPaysBeyondRefundsItPaysTwice();
        invariant_nobodySettlesWithoutABond();
    }

    function _actions() private pure returns (bytes4[] memory actions) {
        actions = new bytes4[](10);
        actions[0] = BondsHandler.post.selector;
        actions[1] = BondsHandler.requestWithdrawal.selector;
        actions[2] = BondsHandler.withdraw.selector;
        actions[3] = BondsHandler.settle.selector;
        actions[4] = BondsHandler.settle.selector;
        actions[5] = BondsHandler.contest.selector;
        actions[6] = BondsHandler.answer.selector;
        actions[7] = BondsHandler.refund.selector;
        actions[8] = BondsHandler.proveDoubleCharge.selector;
        actions[9] = BondsHandler.collect.selector;
    }
}
