// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IToolStaking} from "../../contracts/interfaces/IToolStaking.sol";
import {vm} from "./support/Cheats.sol";
import {Rng} from "./support/Rng.sol";
import {Parties} from "./support/Protocol.sol";
import {ProtocolTest} from "./support/ProtocolTest.sol";

/// @notice What a slash takes, from where, and who gets it.
contract SlashTest is ProtocolTest {
    uint256 private constant DEFAULT_BOUNTY_BPS = 1000;

    address private immutable OWNER = Parties.developer(0);
    address private immutable REPORTER = Parties.reporter(0);

    bytes16 private _toolId;

    function testFuzz_whatIsSlashedIsAllRefundsBountyAndRemainder(uint256 seed) public {
        Rng memory rng = Rng(seed);
        uint256 stake = _stage(rng);
        IToolStaking.SlashTerms memory terms = _randomTerms(rng, stake);
        uint256 refunds = _sum(terms.refunds);
        IToolStaking.Tool memory before = staking.tool(_toolId);
        _slash(terms);

        uint256 fromStake = terms.amount < before.stake ? terms.amount : before.stake;
        IToolStaking.Tool memory listing = staking.tool(_toolId);
        vm.assertEq(listing.stake, before.stake - fromStake, "what counts as stake is taken first");
        vm.assertEq(listing.withdrawing, before.withdrawing - (terms.amount - fromStake), "then the withdrawal");

        uint256 bounty = staking.creditOf(REPORTER);
        uint256 remainder = staking.creditOf(Parties.INSURANCE);
        uint256 refunded;
        for (uint256 i = 0; i < 3; ++i) {
            refunded += staking.creditOf(Parties.payer(i));
        }
        vm.assertEq(refunded, refunds, "refunds are paid in full before anybody else");
        vm.assertEq(refunded + bounty + remainder, terms.amount, "no unit is lost");
        uint256 share = (terms.amount * DEFAULT_BOUNTY_BPS) / 10_000;
        uint256 afterRefunds = terms.amount - refunds;
        uint256 due = share < afterRefunds ? share : afterRefunds;
        vm.assertEq(bounty, terms.reporter == address(0) ? 0 : due, "a tenth, or what the refunds leave of it");
        vm.assertEq(
            usdc.balanceOf(address(staking)),
            uint256(listing.stake) + listing.withdrawing + refunded + bounty + remainder,
            "every unit in the contract is somebody's"
        );
    }

    function testFuzz_refundsAboveTheSlashCannotBeProposed(uint256 seed) public {
        Rng memory rng = Rng(seed);
        uint256 stake = _stage(rng);
        IToolStaking.SlashTerms memory terms = _randomTerms(rng, stake);
        terms.refunds = new IToolStaking.Refund[](1);
        terms.refunds[0] = IToolStaking.Refund(Parties.payer(0), terms.amount + rng.between(1, 1e12));

        bytes memory reason = abi.encodeWithSelector(
            IToolStaking.RefundsExceedSlash.selector,
            terms.refunds[0].amount,
            terms.amount
        );
        vm.prank(Parties.ADJUDICATOR);
        vm.expectRevert(reason);
        staking.proposeSlash(_toolId, terms);
    }

    function testFuzz_moreThanTheStakeCannotBeSlashed(uint256 seed) public {
        Rng memory rng = Rng(seed);
        uint256 stake = _stage(rng);
        IToolStaking.SlashTerms memory terms = _randomTerms(rng, stake);
        terms.amount = stake + rng.between(1, 1e12);

        vm.prank(Parties.ADJUDICATOR);
        vm.expectRevert(abi.encodeWithSelector(IToolStaking.SlashExceedsStake.selector, terms.amount, stake));
        staking.proposeSlash(_toolId, terms);
    }

    /// @dev However the adjudicator times its proposals, the owner has the money 14 days after it was ready.
    function testFuzz_aWithdrawalLeavesNoLaterThan14DaysAfterItIsReady(uint256 seed) public {
        Rng memory rng = Rng(seed);
        uint256 stake = _stage(rng);
        uint256 requestedAt = vm.getBlockTimestamp();
        uint256 amount = staking.tool(_toolId).withdrawing;
        if (amount == 0) {
            amount = rng.between(1, stake);
            vm.prank(OWNER);
            staking.requestWithdrawal(_toolId, amount);
        }
        uint256 limit = requestedAt + 7 days + 14 days;
        for (uint256 time = requestedAt; time < limit; time += rng.between(1 hours, 3 days)) {
            vm.warp(time);
            if (time < staking.slashOf(_toolId).expiresAt) continue;
            // What will have thawed before it could be taken is out of the adjudicator's reach.
            uint256 reach = time + 3 days < limit ? stake : stake - amount;
            if (reach == 0) continue;
            IToolStaking.SlashTerms memory terms = _randomTerms(rng, reach);
            vm.prank(Parties.ADJUDICATOR);
            staking.proposeSlash(_toolId, terms);
        }
        vm.warp(limit);
        vm.prank(OWNER);
        vm.assertEq(staking.withdraw(_toolId, OWNER), amount, "the whole amount leaves");
    }

    /// @dev Lists a tool, and often asks for some of its stake back. Returns all that a slash can reach.
    function _stage(Rng memory rng) private returns (uint256 stake) {
        stake = rng.between(10e6, 100_000e6);
        _toolId = list(OWNER, 0, 0, Parties.payout(0, 0), stake);
        if (rng.happens(60)) {
            vm.prank(OWNER);
            staking.requestWithdrawal(_toolId, rng.happens(20) ? stake : rng.between(1, stake));
        }
    }

    function _randomTerms(Rng memory rng, uint256 stake) private view returns (IToolStaking.SlashTerms memory terms) {
        terms.amount = rng.happens(20) ? stake : rng.between(1, stake);
        terms.evidenceHash = bytes32(rng.state);
        terms.reporter = rng.happens(80) ? REPORTER : address(0);
        terms.refunds = new IToolStaking.Refund[](rng.between(0, 5));
        uint256 left = terms.amount;
        for (uint256 i = 0; i < terms.refunds.length; ++i) {
            // Now and then the refunds use up everything, so that the bounty must give way.
            uint256 amount = rng.happens(20) ? left : rng.between(0, left);
            terms.refunds[i] = IToolStaking.Refund(Parties.payer(rng.between(0, 2)), amount);
            left -= amount;
        }
    }

    function _slash(IToolStaking.SlashTerms memory terms) private {
        vm.prank(Parties.ADJUDICATOR);
        staking.proposeSlash(_toolId, terms);
        vm.warp(vm.getBlockTimestamp() + 3 days);
        vm.prank(Parties.ADJUDICATOR);
        staking.executeSlash(_toolId, terms);
    }

    function _sum(IToolStaking.Refund[] memory refunds) private pure returns (uint256 sum) {
        for (uint256 i = 0; i < refunds.length; ++i) sum += refunds[i].amount;
    }
}
