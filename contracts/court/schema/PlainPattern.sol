// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";
import {Json, Value} from "../json/Json.sol";
import {JsonString} from "../json/JsonString.sol";

/// @title Patterns that are plain
/// @notice A pattern whose characters stand for themselves, with `^` before or `$` after them or both. A character
/// with a meaning in regular expressions stands for itself behind a backslash. Every other pattern is unknown.
library PlainPattern {
    /// @notice Whether the string `json` contains what `pattern` describes.
    function matches(Value pattern, Value json) internal pure returns (Verdict) {
        (uint256 start, uint256 end) = JsonString.decoded(pattern);
        unchecked {
            bool fromStart = start < end && _byteAt(start) == 0x5e;
            if (fromStart) ++start;
            uint256 literal = Json.scratch();
            (bool plain, bool toEnd, uint256 endOfLiteral) = _literal(start, end, literal);
            if (!plain) return Verdict.Unknown;
            assembly ("memory-safe") {
                mstore(0x40, and(add(endOfLiteral, 31), not(31)))
            }
            (start, end) = JsonString.decoded(json);
            return _contains(start, end, literal, endOfLiteral - literal, fromStart, toEnd);
        }
    }

    /// @dev Writes what a pattern spells to `to`, up to a `$` at its end.
    function _literal(
        uint256 cursor,
        uint256 end,
        uint256 to
    ) private pure returns (bool plain, bool toEnd, uint256 endOfLiteral) {
        unchecked {
            for (; cursor < end; ++cursor) {
                uint256 c = _byteAt(cursor);
                if (c == 0x24 && cursor + 1 == end) return (true, true, to);
                if (c == 0x5c) {
                    ++cursor;
                    c = cursor < end ? _byteAt(cursor) : 0;
                    if (!_hasMeaning(c)) return (false, false, to);
                } else if (c != 0x2f && _hasMeaning(c)) {
                    return (false, false, to);
                }
                assembly ("memory-safe") {
                    mstore8(to, c)
                }
                ++to;
            }
            return (true, false, to);
        }
    }

    function _contains(
        uint256 cursor,
        uint256 end,
        uint256 literal,
        uint256 length,
        bool fromStart,
        bool toEnd
    ) private pure returns (Verdict) {
        unchecked {
            if (length > end - cursor) return Verdict.Invalid;
            uint256 last = end - length;
            if (fromStart && toEnd && cursor != last) return Verdict.Invalid;
            if (fromStart) last = cursor;
            else if (toEnd) cursor = last;
            bytes32 wanted = _hash(literal, length);
            for (; cursor <= last; ++cursor) {
                if (_hash(cursor, length) == wanted) return Verdict.Valid;
            }
            return Verdict.Invalid;
        }
    }

    /// @dev Whether a character means something in a regular expression: ^ $ \ . * + ? ( ) [ ] { } | and /, which may
    /// be escaped like them.
    function _hasMeaning(uint256 c) private pure returns (bool) {
        if (c == 0x24 || (c >= 0x28 && c <= 0x2b) || c == 0x2e || c == 0x2f || c == 0x3f) return true;
        return (c >= 0x5b && c <= 0x5e) || (c >= 0x7b && c <= 0x7d);
    }

    function _hash(uint256 start, uint256 length) private pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(start, length)
        }
    }

    function _byteAt(uint256 cursor) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := byte(0, mload(cursor))
        }
    }
}
