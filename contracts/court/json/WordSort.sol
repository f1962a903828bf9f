// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Sorts words in memory
/// @notice Insertion for a few words, and merging for more. A quicksort would be shorter, and quadratic for whoever
/// arranges the words so that it is; here the words come from the party that is to be convicted.
library WordSort {
    /// @dev Runs of so many words are sorted by insertion before they are merged.
    uint256 private constant RUN_BYTES = 8 * 32;

    /// @notice Sorts what stands between two addresses. Overwrites as much memory behind it if there is more than a
    /// run.
    function sort(uint256 start, uint256 end) internal pure {
        unchecked {
            for (uint256 run = start; run < end; run += RUN_BYTES) {
                _insert(run, _min(run + RUN_BYTES, end));
            }
            uint256 length = end - start;
            (uint256 from, uint256 to) = (start, end);
            for (uint256 width = RUN_BYTES; width < length; width <<= 1) {
                for (uint256 offset = 0; offset < length; offset += 2 * width) {
                    _merge(
                        from + offset,
                        from + _min(offset + width, length),
                        from + _min(offset + 2 * width, length),
                        to + offset
                    );
                }
                (from, to) = (to, from);
            }
            if (from != start) {
                assembly ("memory-safe") {
                    mcopy(start, from, length)
                }
            }
        }
    }

    function _insert(uint256 start, uint256 end) private pure {
        assembly ("memory-safe") {
            for {
                let next := add(start, 32)
            } lt(next, end) {
                next := add(next, 32)
            } {
                let word := mload(next)
                let at := next
                for {} gt(at, start) {
                    at := sub(at, 32)
                } {
                    let before := mload(sub(at, 32))
                    if iszero(gt(before, word)) {
                        break
                    }
                    mstore(at, before)
                }
                mstore(at, word)
            }
        }
    }

    /// @dev Merges two sorted runs, one up to `middle` and one from there, to `to`.
    function _merge(uint256 left, uint256 middle, uint256 end, uint256 to) private pure {
        assembly ("memory-safe") {
            let right := middle
            for {} 1 {
                to := add(to, 32)
            } {
                if eq(left, middle) {
                    mcopy(to, right, sub(end, right))
                    break
                }
                if eq(right, end) {
                    mcopy(to, left, sub(middle, left))
                    break
                }
                let l := mload(left)
                let r := mload(right)
                switch gt(l, r)
                case 0 {
                    mstore(to, l)
                    left := add(left, 32)
                }
                default {
                    mstore(to, r)
                    right := add(right, 32)
                }
            }
        }
    }

    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }
}
