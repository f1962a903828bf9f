// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RollingLimit, Spending} from "../../../contracts/libraries/RollingLimit.sol";
import {vm} from "../support/Cheats.sol";
import {Rng} from "../support/Rng.sol";

contract RollingLimitTest {
    /// @dev All that was ever spent: what the library forgets, this remembers.
    struct Spent {
        uint256 timestamp;
        uint256 amount;
    }

    uint256 private constant STEPS = 40;

    /// @dev The stored period wraps around after this long.
    uint256 private constant ERA = 2 ** 16 * 8 hours;

    uint256 private _limit;
    Spending private _spending;
    Spent[] private _history;

    function testFuzz_noWindowOf24HoursSeesMoreThanTheCap(uint256 seed) public {
        _live(Rng(seed), 1_750_000_000);
    }

    function testFuzz_theWrapAroundOfThePeriodForgetsNothing(uint256 seed) public {
        // Starts less than two days before the stored period falls from 65,535 to 0.
        Rng memory rng = Rng(seed);
        _live(rng, rng.between(1, 40) * ERA - rng.between(1, 48 hours));
    }

    function testFuzz_whatWasSpentIsAvailableAgainAfter32Hours(uint40 cap, uint32 start, uint32 rest) public {
        vm.warp(start);
        _limit = cap;
        _spend(cap);
        vm.assertEq(_left(), 0, "all is spent");
        vm.warp(uint256(start) + 24 hours - 1);
        vm.assertEq(_left(), 0, "all is still spent just before 24 hours have passed");
        vm.warp(uint256(start) + 32 hours + (rest % 365 days));
        vm.assertEq(_left(), cap, "all is back after 32 hours");
    }

    function testFuzz_aRestOfExactlyOneEraOnlyMakesTheLimitStricter(uint40 cap, uint40 amount, uint32 start) public {
        if (amount > cap) return;
        vm.warp(start);
        _limit = cap;
        _spend(amount);
        vm.warp(uint256(start) + ERA);
        vm.assertEq(_left(), cap - amount, "old sums are seen again");
    }

    function testFuzz_aCapBelowWhatWasSpentLeavesNothing(uint40 cap, uint40 lower) public {
        _limit = cap;
        _spend(cap);
        _limit = lower;
        vm.assertEq(_left(), lower > cap ? lower - cap : 0, "never below zero");
    }

    function _left() private view returns (uint256) {
        return _spending.left(_limit);
    }

    function _spend(uint256 amount) private {
        _spending = _spending.plus(amount);
    }

    /// @dev Spends random amounts at random times and compares the limit with the history at every step.
    function _live(Rng memory rng, uint256 start) private {
        uint256 time = start;
        _limit = rng.between(1, RollingLimit.MAX_LIMIT);
        for (uint256 step = 0; step < STEPS; ++step) {
            // Mostly hours, sometimes seconds or days.
            time += rng.between(
                0,
                rng.happens(20)
                    ? 1 minutes
                    : rng.happens(10)
                        ? 4 days
                        : 9 hours
            );
            vm.warp(time);
            if (rng.happens(5)) _limit = rng.between(1, RollingLimit.MAX_LIMIT);

            uint256 left = _left();
            vm.assertEq(left, _leftByPeriods(time), "what the four periods leave");
            vm.assertGe(left, _leftAfter(_spentWithin(32 hours, time)), "32 hours later it is available again");

            uint256 amount = rng.happens(30) ? left : rng.between(0, left);
            if (amount == 0) continue;
            _spend(amount);
            _history.push(Spent(time, amount));
            vm.assertLe(_spentWithin(24 hours + 1, time), _limit, "the 24 hours that end now");
        }
    }

    /// @dev What was spent in the last `duration`, the present included and the moment `duration` ago excluded. Every
    /// window holds most right after a spending, so looking back from each of them covers windows that begin anywhere.
    function _spentWithin(uint256 duration, uint256 time) private view returns (uint256 sum) {
        for (uint256 i = 0; i < _history.length; ++i) {
            if (_history[i].timestamp + duration > time) sum += _history[i].amount;
        }
    }

    function _leftByPeriods(uint256 time) private view returns (uint256) {
        uint256 sum;
        for (uint256 i = 0; i < _history.length; ++i) {
            if (_history[i].timestamp / 8 hours + 4 > time / 8 hours) sum += _history[i].amount;
        }
        return _leftAfter(sum);
    }

    function _leftAfter(uint256 spent) private view returns (uint256) {
        return _limit > spent ? _limit - spent : 0;
    }
}
