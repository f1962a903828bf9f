// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Json, Value} from "./Json.sol";
import {WordSort} from "./WordSort.sol";

/// @notice An object's members, sorted by the hash of their names: the address of their number, which they follow.
/// Each is a word with 192 bits of its name's hash and the address of its name on the tape.
type Members is uint256;

using JsonObject for Members global;

/// @title Objects of JSON
/// @notice An object is asked for its members through an index that is built when first needed. It is sorted, so that
/// a name is found by halving, the order of the text makes no difference, and names that stand there twice are
/// neighbours: the last one counts, as in ECMAScript, Python and Go.
library JsonObject {
    /// @notice The members of an object.
    function members(Value object) internal pure returns (Members index) {
        uint256 word = object.word();
        index = Members.wrap((word >> Json.INDEX_SHIFT) & Json.ADDRESS_MASK);
        if (Members.unwrap(index) != 0) return index;
        index = _index(object);
        object.setWord(word | (Members.unwrap(index) << Json.INDEX_SHIFT));
    }

    /// @notice How many there are, each name counted once.
    function size(Members index) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(index)
        }
    }

    /// @notice The name of a member; its value is behind it.
    function nameAt(Members index, uint256 i) internal pure returns (Value) {
        return Value.wrap(_entry(index, i) & Json.ADDRESS_MASK);
    }

    /// @notice The value of a name, by the name's hash; a value that does not exist if there is none.
    function find(Value object, bytes32 nameHash) internal pure returns (Value value) {
        Members index = members(object);
        assembly ("memory-safe") {
            let wanted := shr(64, nameHash)
            let from := add(index, 32)
            let to := add(from, shl(5, mload(index)))
            for {} lt(from, to) {} {
                let middle := add(from, shl(5, shr(6, sub(to, from))))
                let entry := mload(middle)
                let found := shr(64, entry)
                if eq(found, wanted) {
                    value := add(and(entry, 0xffffff), 32)
                    break
                }
                switch lt(found, wanted)
                case 1 {
                    from := add(middle, 32)
                }
                default {
                    to := middle
                }
            }
        }
    }

    function _index(Value object) private pure returns (Members index) {
        Value end = object.next();
        uint256 start;
        uint256 to;
        assembly ("memory-safe") {
            index := mload(0x40)
            start := add(index, 32)
            to := start
        }
        for (Value name = object.first(); name.isBefore(end); name = name.valueOf().next()) {
            uint256 entry = (name.word() & Json.HASH_MASK) | Value.unwrap(name);
            assembly ("memory-safe") {
                mstore(to, entry)
                to := add(to, 32)
            }
        }
        // The merge needs as much memory again, which nobody needs afterwards.
        WordSort.sort(start, to);
        uint256 last = _dropRepeated(start, to);
        assembly ("memory-safe") {
            mstore(index, shr(5, sub(last, start)))
            mstore(0x40, last)
        }
    }

    /// @dev Keeps the last of those that have the same name. Returns the new end.
    function _dropRepeated(uint256 start, uint256 end) private pure returns (uint256 kept) {
        assembly ("memory-safe") {
            kept := start
            for {
                let at := start
            } lt(at, end) {
                at := add(at, 32)
            } {
                let entry := mload(at)
                if and(gt(kept, start), iszero(shr(64, xor(entry, mload(sub(kept, 32)))))) {
                    kept := sub(kept, 32)
                }
                mstore(kept, entry)
                kept := add(kept, 32)
            }
        }
    }

    function _entry(Members index, uint256 i) private pure returns (uint256 entry) {
        assembly ("memory-safe") {
            entry := mload(add(add(index, 32), shl(5, i)))
        }
    }
}
