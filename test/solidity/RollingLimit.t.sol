// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RollingLimit} from "../../contracts/libraries/RollingLimit.sol";
import {vm} from "./support/Cheats.sol";
import {Dice} from "./support/Dice.sol";

contract RollingLimitTest {
    using RollingLimit for RollingLimit.State;

    /// @dev All that was ever spent: what the library forgets, this remembers.
    struct Spending {
        uint256 timestamp;
        uint256 amount;
    }

    uint256 private constant STEPS = 40;

    /// @dev The stored period wraps around after this long.
    uint256 private constant ERA = 2 ** 16 * 8 hours;

    RollingLimit.State private _limit;
    Spending[] private _history;

    function testFuzz_noWindowOf24HoursSeesMoreThanTheCap(uint256 seed) public {
        _live(Dice(seed), 1_750_000_000);
    }

    function testFuzz_theWrapAroundOfThePeriodForgetsNothing(uint256 seed) public {
        // Starts less than two days before the stored period falls from 65,535 to 0.
        Dice memory dice = Dice(seed);
        _live(dice, dice.roll(1, 40) * ERA - dice.roll(1, 48 hours));
    }

    function testFuzz_whatWasSpentIsAvailableAgainAfter32Hours(uint48 cap, uint32 start, uint32 rest) public {
        vm.warp(start);
        _limit.cap = cap;
        _limit.spend(cap);
        vm.assertEq(_limit.left(), 0, "all is spent");
        vm.warp(uint256(start) + 24 hours - 1);
        vm.assertEq(_limit.left(), 0, "all is still spent just before 24 hours have passed");
        vm.warp(uint256(start) + 32 hours + (rest % 365 days));
        vm.assertEq(_limit.left(), cap, "all is back after 32 hours");
    }

    function testFuzz_aRestOfExactlyOneEraOnlyMakesTheLimitStricter(uint48 cap, uint48 amount, uint32 start) public {
        if (amount > cap) return;
        vm.warp(start);
        _limit.cap = cap;
        _limit.spend(amount);
        vm.warp(uint256(start) + ERA);
        vm.assertEq(_limit.left(), cap - amount, "old sums are seen again");
    }

    function testFuzz_aCapBelowWhatWasSpentLeavesNothing(uint48 cap, uint48 lower) public {
        _limit.cap = cap;
        _limit.spend(cap);
        _limit.cap = lower;
        vm.assertEq(_limit.left(), lower > cap ? lower - cap : 0, "never below zero");
    }

    /// @dev Spends random amounts at random times and compares the limit with the history at every step.
    function _live(Dice memory dice, uint256 start) private {
        uint256 time = start;
        _limit.cap = uint48(dice.roll(1, type(uint48).max));
        for (uint256 step = 0; step < STEPS; ++step) {
            // Mostly hours, sometimes seconds or days.
            time += dice.roll(
                0,
                dice.chance(20)
                    ? 1 minutes
                    : dice.chance(10)
                        ? 4 days
                        : 9 hours
            );
            vm.warp(time);
            if (dice.chance(5)) _limit.cap = uint48(dice.roll(1, type(uint48).max));

            uint256 left = _limit.left();
            vm.assertEq(left, _leftByPeriods(time), "what the four periods leave");
            vm.assertGe(left, _leftAfter(_spentWithin(32 hours, time)), "32 hours later it is available again");

            uint256 amount = dice.chance(30) ? left : dice.roll(0, left);
            if (amount == 0) continue;
            _limit.spend(amount);
            _history.push(Spending(time, amount));
            vm.assertLe(_spentWithin(24 hours + 1, time), _limit.cap, "the 24 hours that end now");
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
        return _limit.cap > spent ? _limit.cap - spent : 0;
    }
}
