// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A stream of numbers that a single fuzzed seed determines, so that a fuzzed scenario can have any shape.
struct Rng {
    uint256 state;
}

using {between, choose, happens} for Rng global;

/// @notice The next number, from `min` to `max`, both included.
function between(Rng memory rng, uint256 min, uint256 max) pure returns (uint256) {
    rng.state = uint256(keccak256(abi.encode(rng.state)));
    return min + (rng.state % (max - min + 1));
}

/// @notice Whether an event of the given probability happens.
function happens(Rng memory rng, uint256 percent) pure returns (bool) {
    return between(rng, 1, 100) <= percent;
}

/// @notice `count` different numbers below `total`, in ascending order.
function choose(Rng memory rng, uint256 count, uint256 total) pure returns (uint256[] memory chosen) {
    chosen = new uint256[](count);
    uint256 taken = 0;
    for (uint256 i = 0; taken < count; ++i) {
        if (between(rng, 1, total - i) <= count - taken) chosen[taken++] = i;
    }
}
