// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Decimal, JsonNumber} from "./JsonNumber.sol";
import {Json, Value} from "./Json.sol";
import {JsonObject, Members} from "./JsonObject.sol";
import {JsonString} from "./JsonString.sol";

/// @title When two values of JSON are equal
/// @notice Values are equal if their fingerprints are: numbers by what they are worth, strings by their code points,
/// arrays item by item, objects name by name in any order. Read backwards, a tape has what is inside of a value before
/// the value itself, so that no depth needs a recursion.
library JsonEquality {
    /// @notice A hash that equal values share, and others do not.
    function fingerprint(Value value) internal pure returns (bytes32 result) {
        if (!value.isKind(Json.ARRAY | Json.OBJECT)) return _ofScalar(value);
        uint256 table = fingerprints(value);
        assembly ("memory-safe") {
            result := mload(table)
        }
    }

    /// @notice The fingerprints of a value and of all that is inside of it: where a word of the tape is so many bytes
    /// behind that of the value, its fingerprint is as many bytes behind the address returned.
    function fingerprints(Value value) internal pure returns (uint256 table) {
        uint256 start = Value.unwrap(value);
        uint256 current = Value.unwrap(value.next());
        assembly ("memory-safe") {
            table := mload(0x40)
            mstore(0x40, add(table, sub(current, start)))
        }
        unchecked {
            uint256 shift = table - start;
            while (current > start) {
                current -= 32;
                bytes32 print = _of(Value.wrap(current), shift);
                assembly ("memory-safe") {
                    mstore(add(current, shift), print)
                }
            }
        }
    }

    function _of(Value value, uint256 shift) private pure returns (bytes32) {
        uint256 kind = value.kind();
        if (kind == Json.ARRAY) return _ofArray(value, shift);
        if (kind == Json.OBJECT) return _ofObject(value, shift);
        return _ofScalar(value);
    }

    /// @dev Of a string, number or literal.
    function _ofScalar(Value value) private pure returns (bytes32) {
        uint256 kind = value.kind();
        if (kind == Json.STRING) return _tag(kind, JsonString.hash(value));
        if (kind == Json.NUMBER) {
            Decimal memory number = JsonNumber.parse(value);
            return _tag(kind, JsonNumber.hash(number, Json.scratch()));
        }
        return _tag(kind, value.isTrue() ? bytes32(uint256(1)) : bytes32(0));
    }

    function _ofArray(Value array, uint256 shift) private pure returns (bytes32 result) {
        uint256 scratch = Json.scratch();
        uint256 to = scratch;
        Value end = array.next();
        for (Value item = array.first(); item.isBefore(end); item = item.next()) {
            assembly ("memory-safe") {
                mstore(to, mload(add(item, shift)))
                to := add(to, 32)
            }
        }
        assembly ("memory-safe") {
            result := keccak256(scratch, sub(to, scratch))
        }
        return _tag(Json.ARRAY, result);
    }

    function _ofObject(Value object, uint256 shift) private pure returns (bytes32 result) {
        Members members = JsonObject.members(object);
        uint256 scratch = Json.scratch();
        uint256 to = scratch;
        uint256 size = members.size();
        for (uint256 i = 0; i < size; ++i) {
            Value name = members.nameAt(i);
            assembly ("memory-safe") {
                mstore(to, shr(64, mload(name)))
                mstore(add(to, 32), mload(add(add(name, 32), shift)))
                to := add(to, 64)
            }
        }
        assembly ("memory-safe") {
            result := keccak256(scratch, sub(to, scratch))
        }
        return _tag(Json.OBJECT, result);
    }

    /// @dev Keeps kinds apart, so that no string spells a number.
    function _tag(uint256 kind, bytes32 content) private pure returns (bytes32 result) {
        assembly ("memory-safe") {
            mstore(0, kind)
            mstore(32, content)
            result := keccak256(0, 64)
        }
    }
}
