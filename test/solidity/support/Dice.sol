// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A stream of numbers that a single fuzzed seed determines, so that a fuzzed scenario can have any shape.
struct Dice {
    uint256 state;
}

using {roll, chance} for Dice global;

/// @notice The next number, from `min` to `max`, both included.
function roll(Dice memory dice, uint256 min, uint256 max) pure returns (uint256) {
    dice.state = uint256(keccak256(abi.encode(dice.state)));
    return min + (dice.state % (max - min + 1));
}

/// @notice Whether an event of the given probability happens.
function chance(Dice memory dice, uint256 percent) pure returns (bool) {
    return roll(dice, 1, 100) <= percent;
}
