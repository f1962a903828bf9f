// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A limit on what is spent in any 24 hours, in one storage slot
/// @notice Time is cut into periods of 8 hours. The slot holds the sums of the newest four of them, and their total
/// may not exceed the cap. Any 24 hours touch at most four periods, so no 24 hours ever see more than the cap, wherever
/// they begin. The price of that certainty is that a unit is given back after 24 to 32 hours instead of exactly 24.
library RollingLimit {
    /// @param cap The most that may be spent in any 24 hours. What zero means is the caller's to say.
    /// @param period The period of the newest sum. It wraps around after some 60 years; a limit that rested for exactly
    /// that long would see old sums again, which can only make it stricter.
    /// @param sums What was spent in the newest four periods, 48 bits each, the newest lowest.
    struct State {
        uint48 cap;
        uint16 period;
        uint192 sums;
    }

    uint256 internal constant PERIOD = 8 hours;
    uint256 private constant SUM_BITS = 48;

    /// @notice What may still be spent now.
    function left(State storage state) internal view returns (uint256) {
        uint256 spent = _total(_sumsNow(state));
        uint256 cap = state.cap;
        return cap > spent ? cap - spent : 0;
    }

    /// @notice Counts `amount` as spent now. The caller has compared it with `left` in the same transaction, so the
    /// newest sum stays within the cap, and thus within its 48 bits.
    function spend(State storage state, uint256 amount) internal {
        uint256 sums = _sumsNow(state) + amount;
        // Both casts cut off on purpose: the period wraps around, and the sums fit as said above.
        state.period = uint16(block.timestamp / PERIOD);
        state.sums = uint192(sums);
    }

    /// @dev The sums as seen from the present period: each period that has gone by moves them up by one place, and what
    /// leaves the fourth place is forgotten.
    function _sumsNow(State storage state) private view returns (uint256) {
        unchecked {
            // The difference is taken modulo 2^16, as the period is stored.
            uint256 elapsed = uint16(uint16(block.timestamp / PERIOD) - state.period);
            return uint192(uint256(state.sums) << (elapsed * SUM_BITS));
        }
    }

    /// @dev The total of the four sums. Four numbers of 48 bits cannot overflow.
    function _total(uint256 sums) private pure returns (uint256) {
        unchecked {
            return uint256(uint48(sums)) + uint48(sums >> 48) + uint48(sums >> 96) + uint48(sums >> 144);
        }
    }
}
