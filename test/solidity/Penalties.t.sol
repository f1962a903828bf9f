// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPenalties} from "../../contracts/court/interfaces/IPenalties.sol";
import {vm} from "./support/Cheats.sol";
import {Rng} from "./support/Rng.sol";
import {Parties} from "./support/Protocol.sol";
import {ProtocolTest} from "./support/ProtocolTest.sol";

/// @notice A court that convicts whomever it is told to: what a court with a fault in it could do.
contract HangingCourt {
    IPenalties private immutable _penalties;

    constructor(IPenalties penalties) {
        _penalties = penalties;
    }

    function convict(bytes16 toolId, uint256 penalty, address payer, uint256 refund) external returns (uint256) {
        return _penalties.penalize(toolId, penalty, payer, refund);
    }
}

/// @notice What a court takes, and from whom it goes to whom.
contract PenaltiesTest is ProtocolTest {
    uint256 private constant MAX_PENALTY = 5e6;
    uint256 private constant DAILY_BPS = 2500;

    address private immutable OWNER = Parties.developer(0);

    HangingCourt private _court;
    bytes16 private _toolId;

    function setUp() public override {
        super.setUp();
        _court = new HangingCourt(IPenalties(address(staking)));
        bytes memory grant = abi.encodeCall(manager.grantRole, (3, address(_court), 0));
        vm.prank(Parties.ADMIN);
        manager.schedule(address(manager), grant, 0);
        vm.warp(vm.getBlockTimestamp() + 8 days);
        vm.prank(Parties.ADMIN);
        manager.execute(address(manager), grant);
    }

    /// @dev However often it convicts, in no 24 hours does a court take more than its share of what there was before
    /// them, and nobody but the payers and the insurance account gains by it.
    function testFuzz_aCourtThatConvictsEverybodyTakesItsDailyShare(uint256 seed) public {
        Rng memory rng = Rng(seed);
        uint256 stake = rng.between(10e6, 1000e6);
        _toolId = list(OWNER, 0, 0, Parties.payout(0, 0), stake);
        if (rng.happens(50)) {
            vm.prank(OWNER);
            staking.requestWithdrawal(_toolId, rng.between(1, stake));
        }
        uint256[] memory times = new uint256[](40);
        uint256[] memory amounts = new uint256[](40);
        uint256 before = stake;
        for (uint256 i = 0; i < times.length; ++i) {
            vm.warp(vm.getBlockTimestamp() + rng.between(0, 3 hours));
            times[i] = vm.getBlockTimestamp();
            amounts[i] = _convict(rng);
            vm.assertLe(amounts[i], MAX_PENALTY, "one penalty");
            vm.assertLe(_inTheDayBefore(times, amounts, i), (stake * DAILY_BPS) / 10_000, "a day of penalties");
            uint256 left = uint256(staking.tool(_toolId).stake) + staking.tool(_toolId).withdrawing;
            vm.assertEq(before - left, amounts[i], "the stake pays, to the unit");
            before = left;
        }
        uint256 credits = staking.creditOf(Parties.payer(0)) + staking.creditOf(Parties.INSURANCE);
        vm.assertEq(before + credits, stake, "no unit is lost");
        vm.assertEq(usdc.balanceOf(address(staking)), stake, "and none has left");
    }

    function testFuzz_whoIsNoCourtTakesNothing(address stranger) public {
        if (stranger == address(_court) || stranger == Parties.COURT || stranger == address(manager)) return;
        _toolId = list(OWNER, 0, 0, Parties.payout(0, 0), 10e6);
        vm.expectRevert(abi.encodeWithSignature("AccessManagedUnauthorized(address)", stranger));
        vm.prank(stranger);
        IPenalties(address(staking)).penalize(_toolId, 1, Parties.payer(0), 0);
    }

    function _convict(Rng memory rng) private returns (uint256 taken) {
        uint256 penalty = rng.between(1, 2 * MAX_PENALTY);
        uint256 refund = rng.between(0, penalty);
        try _court.convict(_toolId, penalty, Parties.payer(0), refund) returns (uint256 amount) {
            taken = amount;
        } catch {
            taken = 0;
        }
    }

    function _inTheDayBefore(
        uint256[] memory times,
        uint256[] memory amounts,
        uint256 last
    ) private pure returns (uint256 sum) {
        for (uint256 i = 0; i <= last; ++i) if (times[i] + 24 hours > times[last]) sum += amounts[i];
    }
}
