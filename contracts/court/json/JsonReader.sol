// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Json, Value} from "./Json.sol";
import {JsonString} from "./JsonString.sol";

/// @title Reads a JSON text onto a tape
/// @notice RFC 8259 to the letter: nothing is forgiven that the grammar does not allow, and nothing refused that it
/// allows, however deep it is nested. One pass and no recursion: an open array or object keeps the address of the one
/// that it is in, until it is closed.
library JsonReader {
    /// @dev Set in an address: the text is no JSON there.
    uint256 internal constant MALFORMED = 1 << 255;

    /// @dev Set in an address: what stands there is JSON, but larger than anything here computes with.
    uint256 internal constant IMMENSE = 1 << 254;

    /// @dev Digits that an exponent may have. A number with more is no measure of anything.
    uint256 internal constant MAX_EXPONENT_DIGITS = 60;

    /// @notice Copies a text to memory, with a zero byte after it at which every loop below stops.
    /// @return start The address of its first byte.
    function load(bytes calldata source) internal pure returns (uint256 start) {
        assembly ("memory-safe") {
            start := mload(0x40)
            let end := add(start, source.length)
            calldatacopy(start, source.offset, source.length)
            mstore(end, 0)
            mstore(0x40, and(add(end, 63), not(31)))
        }
    }

    /// @notice Reads the text of `length` bytes at `start`.
    /// @return root The value that it is.
    /// @return failure Where the text is MALFORMED or IMMENSE; zero if it is neither.
    function read(uint256 start, uint256 length) internal pure returns (Value root, uint256 failure) {
        uint256 tape = Json.scratch();
        root = Value.wrap(tape);
        uint256 cursor;
        (cursor, tape) = _readValues(start, tape);
        if (cursor < IMMENSE) cursor = _skipSpace(cursor);
        // A zero byte inside of the text stops the loops as the one behind it does.
        if (cursor < IMMENSE && cursor != start + length) cursor |= MALFORMED;
        if (cursor >= IMMENSE) failure = cursor;
        assembly ("memory-safe") {
            mstore(0x40, tape)
        }
    }

    /// @dev Reads until the first value is complete. Returns where it ends, and the end of the tape.
    function _readValues(uint256 cursor, uint256 tape) private pure returns (uint256, uint256) {
        // The innermost array or object that is open, and how much is in it so far.
        uint256 open = 0;
        uint256 count = 0;
        unchecked {
            while (cursor < IMMENSE) {
                cursor = _skipSpace(cursor);
                uint256 c = _byteAt(cursor);
                if (c == 0x7b || c == 0x5b) {
                    _open(tape, cursor, c == 0x7b ? Json.OBJECT : Json.ARRAY, open, count);
                    (open, count, tape) = (tape, 0, tape + 32);
                    cursor = _skipSpace(cursor + 1);
                    // What opens and what closes are two apart, and with nothing between them nothing is read.
                    if (_byteAt(cursor) != c + 2) {
                        if (c == 0x7b) (cursor, tape) = _readName(cursor, tape);
                        continue;
                    }
                } else {
                    (cursor, tape) = _readScalar(cursor, c, tape);
                    if (cursor >= IMMENSE || open == 0) return (cursor, tape);
                    ++count;
                }
                (cursor, open, count) = _close(cursor, open, count, tape);
                if (cursor >= IMMENSE || open == 0) return (cursor, tape);
                if (!Value.wrap(open).isKind(Json.OBJECT)) continue;
                (cursor, tape) = _readName(_skipSpace(cursor), tape);
            }
            return (cursor, tape);
        }
    }

    /// @dev Keeps what is open, and its count, in the word of what is opened in it.
    function _open(uint256 tape, uint256 cursor, uint256 kind, uint256 open, uint256 count) private pure {
        uint256 word = cursor | (kind << Json.KIND_SHIFT);
        _write(tape, word | (open << Json.NEXT_SHIFT) | (count << Json.COUNT_SHIFT));
    }

    /// @dev Closes all that is closed behind a value, up to a comma. Returns where to go on, what is open there and
    /// its count.
    function _close(
        uint256 cursor,
        uint256 open,
        uint256 count,
        uint256 tape
    ) private pure returns (uint256, uint256, uint256) {
        unchecked {
            while (open != 0) {
                cursor = _skipSpace(cursor);
                uint256 c = _byteAt(cursor);
                if (c == 0x2c) return (cursor + 1, open, count);
                uint256 word = Value.wrap(open).word();
                bool isObject = (word >> Json.KIND_SHIFT) & Json.OBJECT != 0;
                if (c != (isObject ? 0x7d : 0x5d)) return (cursor | MALFORMED, open, count);
                ++cursor;
                uint256 kept = word & ((1 << Json.NEXT_SHIFT) - 1);
                kept |= (cursor << Json.END_SHIFT) | (tape << Json.NEXT_SHIFT) | (count << Json.COUNT_SHIFT);
                _write(open, kept);
                open = (word >> Json.NEXT_SHIFT) & Json.ADDRESS_MASK;
                count = ((word >> Json.COUNT_SHIFT) & Json.ADDRESS_MASK) + 1;
            }
            return (cursor, open, count);
        }
    }

    /// @dev Reads a name and the colon after it. Returns where its value begins, and the end of the tape.
    function _readName(uint256 start, uint256 tape) private pure returns (uint256 cursor, uint256) {
        unchecked {
            if (_byteAt(start) != 0x22) return (start | MALFORMED, tape);
            uint256 escaped;
            (cursor, escaped) = JsonString.scan(start + 1);
            if (cursor >= IMMENSE) return (cursor, tape);
            uint256 word = start | (cursor << Json.END_SHIFT) | ((Json.STRING | escaped) << Json.KIND_SHIFT);
            // What is decoded for the hash stands behind the tape, where the next word overwrites it.
            word |= uint256(JsonString.hash(start + 1, cursor - 1, escaped != 0, tape)) & Json.HASH_MASK;
            _write(tape, word);
            cursor = _skipSpace(cursor);
            return (_byteAt(cursor) == 0x3a ? cursor + 1 : cursor | MALFORMED, tape + 32);
        }
    }

    /// @dev Reads a string, number or literal. Returns where it ends, and the end of the tape.
    function _readScalar(uint256 start, uint256 c, uint256 tape) private pure returns (uint256 cursor, uint256) {
        uint256 kind;
        unchecked {
            if (c == 0x22) {
                (cursor, kind) = JsonString.scan(start + 1);
                kind |= Json.STRING;
            } else if (c == 0x74) {
                (cursor, kind) = (_literal(start, "true", 4), Json.BOOLEAN);
            } else if (c == 0x66) {
                (cursor, kind) = (_literal(start, "false", 5), Json.BOOLEAN);
            } else if (c == 0x6e) {
                (cursor, kind) = (_literal(start, "null", 4), Json.NULL);
            } else {
                (cursor, kind) = (_number(start), Json.NUMBER);
            }
            _write(tape, start | (cursor << Json.END_SHIFT) | (kind << Json.KIND_SHIFT));
            return (cursor, tape + 32);
        }
    }

    function _literal(uint256 start, bytes32 expected, uint256 length) private pure returns (uint256) {
        uint256 unused = 256 - 8 * length;
        uint256 word = Value.wrap(start).word();
        return (word ^ uint256(expected)) >> unused == 0 ? start + length : start | MALFORMED;
    }

    function _number(uint256 cursor) private pure returns (uint256) {
        unchecked {
            if (_byteAt(cursor) == 0x2d) ++cursor;
            uint256 digits = cursor;
            cursor = _skipDigits(cursor);
            if (cursor == digits) return cursor | MALFORMED;
            // No number but zero itself, or what is below one, begins with a zero.
            if (_byteAt(digits) == 0x30 && cursor != digits + 1) return (digits + 1) | MALFORMED;
            if (_byteAt(cursor) == 0x2e) {
                digits = cursor + 1;
                cursor = _skipDigits(digits);
                if (cursor == digits) return cursor | MALFORMED;
            }
            if (_byteAt(cursor) | 0x20 != 0x65) return cursor;
            ++cursor;
            uint256 sign = _byteAt(cursor);
            if (sign == 0x2b || sign == 0x2d) ++cursor;
            digits = cursor;
            cursor = _skipDigits(cursor);
            if (cursor == digits) return cursor | MALFORMED;
            return cursor - digits > MAX_EXPONENT_DIGITS ? digits | IMMENSE : cursor;
        }
    }

    function _skipDigits(uint256 cursor) private pure returns (uint256) {
        unchecked {
            while (_byteAt(cursor) - 0x30 < 10) ++cursor;
            return cursor;
        }
    }

    function _skipSpace(uint256 cursor) private pure returns (uint256) {
        assembly ("memory-safe") {
            for {} 1 {
                cursor := add(cursor, 1)
            } {
                let c := byte(0, mload(cursor))
                if gt(c, 0x20) {
                    break
                }
                // One bit for each of the four characters: tab, line feed, carriage return and space.
                if iszero(and(shl(c, 1), 0x100002600)) {
                    break
                }
            }
        }
        return cursor;
    }

    function _byteAt(uint256 cursor) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := byte(0, mload(cursor))
        }
    }

    function _write(uint256 tape, uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(tape, word)
        }
    }
}
