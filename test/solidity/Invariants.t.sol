// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICredits} from "../../contracts/interfaces/ICredits.sol";
import {IToolStaking} from "../../contracts/interfaces/IToolStaking.sol";
import {vm} from "./support/Cheats.sol";
import {Rng} from "./support/Rng.sol";
import {Handler} from "./support/Handler.sol";
import {ProtocolTest} from "./support/ProtocolTest.sol";
import {RouterHandler} from "./support/RouterHandler.sol";
import {StakingHandler} from "./support/StakingHandler.sol";

/// @notice The invariants of docs/invariants.md, under everything that payers, developers, operators, the adjudicator, the guardian,
/// the admin and Circle may do, in any order.
contract InvariantsTest is ProtocolTest {
    /// @dev What the test runner wants to know: which functions of which contract to call.
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    uint48 private constant OPERATOR_LIMIT = 200e6;

    StakingHandler private _developers;
    RouterHandler private _payers;

    function setUp() public override {
        super.setUp();
        setOperatorLimit(OPERATOR_LIMIT);
        _developers = StakingHandler(deploy("StakingHandler", abi.encode(protocol())));
        bytes memory arguments = abi.encode(protocol(), _developers, OPERATOR_LIMIT);
        _payers = RouterHandler(deploy("RouterHandler", arguments));
        // Most tools are there from the start, as a market without tools has little to say.
        for (uint256 seed = 0; seed < 6; ++seed) _developers.list(seed);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](2);
        targets[0] = address(_developers);
        targets[1] = address(_payers);
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        targets = new FuzzSelector[](2);
        targets[0] = FuzzSelector(address(_developers), _developerActions());
        targets[1] = FuzzSelector(address(_payers), _payerActions());
    }

    function invariant_routerCoversAllCreditsAndPrepaidBalances() public view {
        uint256 owed = _creditsIn(router, _payers.creditors()) + _payers.prepaid();
        vm.assertEq(usdc.balanceOf(address(router)), owed, "the router's USDC is its credits and prepaid balances");
    }

    function invariant_refundNeverTakesWhatWasSettled() public view {
        vm.assertEq(
            _payers.deposited(),
            _payers.drawn() + _payers.refunded() + _payers.prepaid(),
            "what was deposited was drawn, refunded, or is still there"
        );
        vm.assertEq(_payers.refundsGoneWrong(), 0, "no refund came early, or with another amount");
    }

    function invariant_batchesFollowEachOther() public view {
        vm.assertEq(_payers.batchesOutOfOrder(), 0, "no batch was settled that does not follow the last one");
    }

    function invariant_stakeBoundsEarnings() public view {
        vm.assertEq(_payers.earningsAboveStake(), 0, "no 24 hours in which a tool earned more than its stake allows");
    }

    function invariant_stakesNeverFundClaims() public view {
        uint256 owed = _stakes() + _creditsIn(staking, _developers.creditors());
        vm.assertEq(usdc.balanceOf(address(staking)), owed, "stakes, withdrawals and credits are all there");
    }

    function invariant_splitLosesNoUnit() public view {
        uint256 credited = _payers.developerCredits() + _payers.treasuryCredits();
        vm.assertEq(_payers.charged(), credited, "what was charged was credited");
    }

    function invariant_batchSettlesOnce() public view {
        vm.assertEq(_payers.replaysSettled(), 0, "no batch was settled twice");
    }

    function invariant_nobodyIsDebitedAboveAllowanceOrDailyCap() public view {
        vm.assertEq(_payers.debitsAboveAllowance(), 0, "no debit above the allowance");
        vm.assertEq(_payers.debitsAboveCap(), 0, "no 24 hours above the daily cap");
    }

    function invariant_operatorNeverExceedsItsLimitInAnyDay() public view {
        vm.assertEq(_payers.batchesAboveLimit(), 0, "no 24 hours above the operator's limit");
    }

    function invariant_underStakedToolIsNeverPaid() public view {
        vm.assertEq(_payers.underStakedToolsPaid(), 0, "no tool was paid without its stake");
        vm.assertEq(_developers.pricesGoneWrong(), 0, "no price rose without its stake");
    }

    function invariant_pendingWithdrawalDoesNotCountAsStake() public view {
        for (uint256 i = 0; i < _developers.TOOLS(); ++i) {
            bytes16 toolId = _developers.toolIds(i);
            StakingHandler.Balances memory balances = _developers.balancesOf(i);
            IToolStaking.Tool memory tool = staking.tool(toolId);
            vm.assertEq(tool.stake, balances.counted, "the stake is what the balances count");
            vm.assertEq(tool.withdrawing, balances.withdrawing, "the withdrawal is what the balances say");
            vm.assertTrue((_payeeOf(toolId) != address(0)) == _developers.mayBePaid(i), "payable by the balances");
        }
    }

    function invariant_stakeIsConserved() public view {
        uint256 slashed = _developers.slashed();
        vm.assertEq(
            _developers.deposited(),
            _stakes() + _developers.withdrawn() + slashed + _developers.penalized(),
            "what was deposited is staked, withdrawing, withdrawn, slashed or a penalty"
        );
        vm.assertEq(
            slashed,
            _developers.refunded() + _developers.bounties() + _developers.remainders(),
            "what was slashed was refunded, earned by reporters or kept for insurance"
        );
    }

    function invariant_withdrawalNeverLeavesBefore7Days() public view {
        vm.assertEq(_developers.withdrawalsTooEarly(), 0, "none left early, or with another amount");
        vm.assertEq(_developers.withdrawalsDespiteFreeze(), 0, "none left while a slash held it");
    }

    function invariant_withdrawalIsNeverHeldLongerThan14DaysAfterItIsReady() public view {
        vm.assertEq(_developers.withdrawalsStuck(), 0, "none was held for longer than allowed");
    }

    function invariant_slashWaitsForTheAnswerAndComesOncePerEvidence() public view {
        vm.assertEq(_developers.slashesOutOfTime(), 0, "none was executed early or late");
        vm.assertEq(_developers.slashesRepeated(), 0, "no evidence was used twice");
    }

    function invariant_vetoHoldsForEightDays() public view {
        vm.assertEq(_developers.slashesDespiteVeto(), 0, "none was proposed too soon after a veto");
    }

    function invariant_slashPaysTheHarmedFirstAndTheBountyAsProposed() public view {
        vm.assertEq(_developers.slashesPaidWrong(), 0, "refunds in full or in proportion, then the bounty");
    }

    function invariant_courtTakesNoMoreThanItsBounds() public view {
        vm.assertEq(_developers.penaltiesGoneWrong(), 0, "per penalty, per day, and never what a slash asks for");
    }

    function invariant_onlyTheTokenCanStopAClaim() public view {
        vm.assertEq(_payers.claimsGoneWrong(), 0, "claims from the router");
        vm.assertEq(_developers.claimsGoneWrong(), 0, "claims from the staking contract");
    }

    function invariant_preflightTellsTheTruth() public view {
        vm.assertEq(_payers.preflightsGoneWrong(), 0, "what is spendable can be paid, and no more");
    }

    /// @dev One long life instead of many short ones. It reaches what takes weeks, and shows that the handlers come
    /// through every path, without which the invariants above would hold for nothing.
    function test_theInvariantsHoldThroughALongLifeThatReachesEveryPath() public {
        bytes4[] memory developers = _developerActions();
        bytes4[] memory payers = _payerActions();
        Rng memory rng = Rng(8);
        for (uint256 step = 0; step < 6000; ++step) {
            bool developer = rng.happens(50);
            bytes4[] memory actions = developer ? developers : payers;
            bytes4 action = actions[rng.between(0, actions.length - 1)];
            address handler = developer ? address(_developers) : address(_payers);
            (bool ok, ) = handler.call(abi.encodeWithSelector(action, rng.between(0, type(uint256).max - 1)));
            vm.assertTrue(ok, "no action reverts");
            if (step % 50 == 0) _checkAllInvariants();
        }
        _checkAllInvariants();
        _checkPaths();
    }

    function _checkAllInvariants() private view {
        invariant_routerCoversAllCreditsAndPrepaidBalances();
        invariant_stakesNeverFundClaims();
        invariant_splitLosesNoUnit();
        invariant_batchSettlesOnce();
        invariant_batchesFollowEachOther();
        invariant_refundNeverTakesWhatWasSettled();
        invariant_stakeBoundsEarnings();
        invariant_nobodyIsDebitedAboveAllowanceOrDailyCap();
        invariant_operatorNeverExceedsItsLimitInAnyDay();
        invariant_underStakedToolIsNeverPaid();
        invariant_pendingWithdrawalDoesNotCountAsStake();
        invariant_stakeIsConserved();
        invariant_withdrawalNeverLeavesBefore7Days();
        invariant_withdrawalIsNeverHeldLongerThan14DaysAfterItIsReady();
        invariant_slashWaitsForTheAnswerAndComesOncePerEvidence();
        invariant_vetoHoldsForEightDays();
        invariant_slashPaysTheHarmedFirstAndTheBountyAsProposed();
        invariant_courtTakesNoMoreThanItsBounds();
        invariant_onlyTheTokenCanStopAClaim();
        invariant_preflightTellsTheTruth();
    }

    function _checkPaths() private view {
        _checkReached(_developers, "list", 4);
        _checkReached(_developers, "stake", 20);
        _checkReached(_developers, "raise the price", 5);
        _checkReached(_developers, "lower the price", 5);
        _checkReached(_developers, "change the payout", 20);
        _checkReached(_developers, "request a withdrawal", 20);
        _checkReached(_developers, "cancel a withdrawal", 5);
        _checkReached(_developers, "withdraw", 5);
        _checkReached(_developers, "hold a withdrawal", 5);
        _checkReached(_developers, "withdraw after 14 frozen days", 1);
        _checkReached(_developers, "propose a slash", 20);
        _checkReached(_developers, "propose judged evidence", 1);
        _checkReached(_developers, "execute a slash", 5);
        _checkReached(_developers, "execute out of time", 5);
        _checkReached(_developers, "slash a withdrawal", 1);
        _checkReached(_developers, "dismiss a slash", 2);
        _checkReached(_developers, "veto a slash", 2);
        _checkReached(_developers, "propose despite a veto", 5);
        _checkReached(_developers, "refund in proportion", 1);
        _checkReached(_developers, "penalize", 20);
        _checkReached(_developers, "penalize too much", 20);
        _checkReached(_developers, "penalize beside a slash", 1);
        _checkReached(_developers, "compensate", 5);
        _checkReached(_developers, "compensate in part", 5);
        _checkReached(_developers, "compensate above a penalty", 1);
        _checkReached(_developers, "change the parameters", 5);
        _checkReached(_developers, "claim", 5);
        _checkReached(_developers, "payout", 5);
        _checkReached(_payers, "settle", 50);
        _checkReached(_payers, "replay", 20);
        _checkReached(_payers, "pay", 5);
        _checkReached(_payers, "pay a tool", 50);
        _checkReached(_payers, "offer an under-staked tool", 20);
        _checkReached(_payers, "debit", 50);
        _checkReached(_payers, "debit under a cap", 20);
        _checkReached(_payers, "exceed an operator's limit", 5);
        _checkReached(_payers, "settle without the token", 2);
        _checkReached(_payers, "approve", 20);
        _checkReached(_payers, "revoke", 5);
        _checkReached(_payers, "drain", 20);
        _checkReached(_payers, "set a daily cap", 20);
        _checkReached(_payers, "set an operator's limit", 5);
        _checkReached(_payers, "suspend an operator", 2);
        _checkReached(_payers, "pause the router", 5);
        _checkReached(_payers, "pause the token", 5);
        _checkReached(_payers, "blacklist", 5);
        _checkReached(_payers, "claim", 20);
        _checkReached(_payers, "claim past the blacklist", 1);
        _checkReached(_payers, "claim from a paused router", 1);
        _checkReached(_payers, "payout", 5);
        _checkReached(_payers, "deposit", 5);
        _checkReached(_payers, "draw on a prepaid balance", 5);
        _checkReached(_payers, "refund", 2);
        _checkReached(_payers, "settle out of order", 5);
        _checkReached(_payers, "earn more than a stake allows", 1);
    }

    function _checkReached(Handler handler, bytes32 path, uint256 least) private view {
        vm.assertGe(handler.reached(path), least, string(abi.encodePacked(path)));
    }

    function _developerActions() private pure returns (bytes4[] memory actions) {
        actions = new bytes4[](13);
        actions[0] = StakingHandler.list.selector;
        actions[1] = StakingHandler.stake.selector;
        actions[2] = StakingHandler.setPrice.selector;
        actions[3] = StakingHandler.setPayout.selector;
        actions[4] = StakingHandler.requestWithdrawal.selector;
        actions[5] = StakingHandler.cancelWithdrawal.selector;
        actions[6] = StakingHandler.withdraw.selector;
        actions[7] = StakingHandler.proposeSlash.selector;
        actions[8] = StakingHandler.executeSlash.selector;
        actions[9] = StakingHandler.dropSlash.selector;
        actions[10] = StakingHandler.setParameters.selector;
        actions[11] = StakingHandler.collect.selector;
        actions[12] = StakingHandler.penalize.selector;
    }

    function _payerActions() private pure returns (bytes4[] memory actions) {
        actions = new bytes4[](16);
        actions[0] = RouterHandler.settle.selector;
        actions[1] = RouterHandler.settleMany.selector;
        actions[2] = RouterHandler.replay.selector;
        actions[3] = RouterHandler.pay.selector;
        actions[4] = RouterHandler.approve.selector;
        actions[5] = RouterHandler.fund.selector;
        actions[6] = RouterHandler.drain.selector;
        actions[7] = RouterHandler.setDailyCap.selector;
        actions[8] = RouterHandler.setOperatorLimit.selector;
        actions[9] = RouterHandler.suspendOperator.selector;
        actions[10] = RouterHandler.pauseRouter.selector;
        actions[11] = RouterHandler.pauseToken.selector;
        actions[12] = RouterHandler.blacklist.selector;
        actions[13] = RouterHandler.collect.selector;
        actions[14] = RouterHandler.deposit.selector;
        actions[15] = RouterHandler.refund.selector;
    }

    function _payeeOf(bytes16 toolId) private view returns (address payee) {
        (payee, ) = staking.earner(toolId);
    }

    /// @dev All that counts as stake or waits for its withdrawal.
    function _stakes() private view returns (uint256 sum) {
        for (uint256 i = 0; i < _developers.TOOLS(); ++i) {
            IToolStaking.Tool memory tool = staking.tool(_developers.toolIds(i));
            sum += uint256(tool.stake) + tool.withdrawing;
        }
    }

    function _creditsIn(ICredits credits, address[] memory accounts) private view returns (uint256 sum) {
        for (uint256 i = 0; i < accounts.length; ++i) sum += credits.creditOf(accounts[i]);
    }
}
