// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev What was spent in the newest four periods of 8 hours, 40 bits each, the newest lowest; above them the number
/// of the newest period, 16 bits. Of a storage slot it leaves 80 bits to whoever keeps it as a `uint176`: the limit is
/// one of them.
type Spending is uint256;

using RollingLimit for Spending global;

/// @title A limit on what is spent in any 24 hours, in one storage slot
/// @notice Time is cut into periods of 8 hours. The total of the newest four of them may not exceed the limit. Any 24
/// hours touch at most four periods, so no 24 hours ever see more than the limit, wherever they begin. The price of
/// that certainty is that a unit is given back after 24 to 32 hours instead of exactly 24.
library RollingLimit {
    uint256 internal constant PERIOD = 8 hours;

    /// @dev The highest limit there is, some 1.1 million USDC: a sum has 40 bits.
    uint256 internal constant MAX_LIMIT = type(uint40).max;

    uint256 private constant SUM_BITS = 40;
    uint256 private constant SUMS_BITS = 160;
    uint256 private constant EVERY_OTHER = (uint256(type(uint40).max) << 80) | type(uint40).max;

    /// @notice What may still be spent now of a limit.
    function left(Spending spending, uint256 limit) internal view returns (uint256) {
        uint256 spent = _total(_sumsNow(spending));
        // Compared in the line itself.
        unchecked {
            return limit > spent ? limit - spent : 0;
        }
    }

    /// @notice The same after `amount` was spent now. The caller has compared it with `left` in the same transaction,
    /// and its limit is at most MAX_LIMIT, so the newest sum stays within its 40 bits.
    function plus(Spending spending, uint256 amount) internal view returns (Spending) {
        unchecked {
            // The period wraps around after some 60 years; a limit that rested for exactly that long would see old
            // sums again, which can only make it stricter.
            uint256 period = uint16(block.timestamp / PERIOD);
            return Spending.wrap((period << SUMS_BITS) | (_sumsNow(spending) + amount));
        }
    }

    /// @dev The sums as seen from the present period: each period that has gone by moves them up by one place, and
    /// what leaves the fourth place is forgotten.
    function _sumsNow(Spending spending) private view returns (uint256) {
        unchecked {
            uint256 packed = Spending.unwrap(spending);
            // The difference is taken modulo 2^16, as the period is stored.
            uint256 elapsed = uint16(block.timestamp / PERIOD - (packed >> SUMS_BITS));
            return uint160(packed << (elapsed * SUM_BITS));
        }
    }

    /// @dev The total of the four sums: those of every other place are added side by side, in 80 bits each, so that
    /// nothing overflows.
    function _total(uint256 sums) private pure returns (uint256) {
        unchecked {
            uint256 pairs = (sums & EVERY_OTHER) + ((sums >> SUM_BITS) & EVERY_OTHER);
            return (pairs >> 80) + uint80(pairs);
        }
    }
}
