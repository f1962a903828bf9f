// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Json, Value} from "./Json.sol";
import {JsonReader} from "./JsonReader.sol";

/// @title Strings of JSON
/// @notice A string is its code points, however they are written: `"é"`, `"\u00e9"` and `"\u00E9"` are equal. An
/// escaped surrogate that has no partner is one code point, as in ECMAScript; the text itself must be UTF-8, in which
/// there is none. Decoded strings are UTF-8 with such surrogates in three bytes.
library JsonString {
    uint256 private constant ONES = 0x0101010101010101010101010101010101010101010101010101010101010101;
    uint256 private constant LOW_BITS = 0x7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f;
    uint256 private constant HIGH_BITS = 0x8080808080808080808080808080808080808080808080808080808080808080;
    uint256 private constant QUOTES = 0x2222222222222222222222222222222222222222222222222222222222222222;
    uint256 private constant CONTROLS = 0x6060606060606060606060606060606060606060606060606060606060606060;
    uint256 private constant BACKSLASHES = 0x5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c;

    /// @notice Reads a string from behind its opening quote.
    /// @return cursor The address behind the closing quote, or where the text is malformed.
    /// @return escaped The flag ESCAPED if there is an escape in it, or zero.
    function scan(uint256 start) internal pure returns (uint256 cursor, uint256 escaped) {
        cursor = start;
        unchecked {
            while (cursor < JsonReader.IMMENSE) {
                cursor = _skipPlain(cursor);
                uint256 c = _byteAt(cursor);
                if (c == 0x22) return (cursor + 1, escaped);
                if (c == 0x5c) {
                    cursor = _skipEscape(cursor);
                    escaped = Json.ESCAPED;
                } else {
                    // A control character, and the zero byte behind the text, is no beginning of a code point either.
                    cursor = _skipCodePoint(cursor);
                }
            }
        }
    }

    /// @notice The hash of what stands between two addresses, decoded.
    /// @param scratch Memory that may be overwritten from here on.
    function hash(uint256 start, uint256 end, bool escaped, uint256 scratch) internal pure returns (bytes32 result) {
        if (escaped) (start, end) = (scratch, _decode(start, end, scratch));
        assembly ("memory-safe") {
            result := keccak256(start, sub(end, start))
        }
    }

    /// @notice The first 192 bits of the hash of a string, decoded: what the word of a name holds from the beginning,
    /// and that of another string once somebody has asked.
    function hash(Value value) internal pure returns (bytes32) {
        uint256 word = value.word();
        if (word & Json.HASH_MASK != 0) return bytes32(word & Json.HASH_MASK);
        (uint256 start, uint256 end) = value.text();
        unchecked {
            bool escaped = value.isKind(Json.ESCAPED);
            uint256 found = uint256(hash(start + 1, end - 1, escaped, Json.scratch())) & Json.HASH_MASK;
            value.setWord(word | found);
            return bytes32(found);
        }
    }

    /// @notice Whether a string has this hash, as far as it is kept.
    function hashesTo(Value value, bytes32 expected) internal pure returns (bool) {
        return (uint256(hash(value)) ^ uint256(expected)) & Json.HASH_MASK == 0;
    }

    /// @notice The bytes of a short string, followed by zeros; nothing if there are more than 32.
    function spelling(Value value) internal pure returns (bytes32 result) {
        (uint256 start, uint256 end) = decoded(value);
        unchecked {
            uint256 bytes_ = end - start;
            if (bytes_ == 0 || bytes_ > 32) return 0;
            uint256 unused = 256 - 8 * bytes_;
            assembly ("memory-safe") {
                result := shl(unused, shr(unused, mload(start)))
            }
            // A string that itself ends in a zero must not pass for one that is shorter.
            if (result[bytes_ - 1] == 0) return 0;
        }
    }

    /// @notice The addresses of a string's decoded bytes: its own text if nothing in it is escaped.
    function decoded(Value value) internal pure returns (uint256 start, uint256 end) {
        (start, end) = value.text();
        unchecked {
            ++start;
            --end;
            if (!value.isKind(Json.ESCAPED)) return (start, end);
            uint256 to = Json.scratch();
            end = _decode(start, end, to);
            start = to;
            assembly ("memory-safe") {
                mstore(0x40, and(add(end, 31), not(31)))
            }
        }
    }

    /// @notice How many code points a string has.
    function length(Value value) internal pure returns (uint256 result) {
        (uint256 start, uint256 end) = decoded(value);
        assembly ("memory-safe") {
            for {} lt(start, end) {
                start := add(start, 32)
            } {
                let w := mload(start)
                // Every byte begins a code point, except those whose two highest bits are 10.
                let begins := and(or(not(w), shl(1, w)), HIGH_BITS)
                let beyond := sub(add(start, 32), end)
                if lt(beyond, 32) {
                    begins := and(begins, not(sub(shl(shl(3, beyond), 1), 1)))
                }
                result := add(result, shr(248, mul(shr(7, begins), ONES)))
            }
        }
    }

    /// @dev The first byte that is not printable ASCII, or is a quote or backslash: 32 bytes at a time.
    function _skipPlain(uint256 cursor) private pure returns (uint256) {
        assembly ("memory-safe") {
            let stops
            for {} 1 {
                cursor := add(cursor, 32)
            } {
                let w := mload(cursor)
                let low := and(w, LOW_BITS)
                // No sum of two bytes carries into the next one. A high bit stays clear for what is looked for.
                let plain := and(add(xor(low, QUOTES), LOW_BITS), add(xor(low, BACKSLASHES), LOW_BITS))
                plain := and(plain, add(low, CONTROLS))
                stops := and(or(w, not(plain)), HIGH_BITS)
                if stops {
                    break
                }
            }
            // Halves what is left until the first byte that stops is found.
            let shift := shl(7, iszero(shr(128, stops)))
            shift := or(shift, shl(6, iszero(shr(192, shl(shift, stops)))))
            shift := or(shift, shl(5, iszero(shr(224, shl(shift, stops)))))
            shift := or(shift, shl(4, iszero(shr(240, shl(shift, stops)))))
            shift := or(shift, shl(3, iszero(shr(248, shl(shift, stops)))))
            cursor := add(cursor, shr(3, shift))
        }
        return cursor;
    }

    function _skipEscape(uint256 cursor) private pure returns (uint256) {
        unchecked {
            uint256 c = _byteAt(cursor + 1);
            if (c == 0x75) {
                return _hexAt(cursor + 2) > 0xffff ? cursor | JsonReader.MALFORMED : cursor + 6;
            }
            return _meaningOf(c) == 0 ? cursor | JsonReader.MALFORMED : cursor + 2;
        }
    }

    /// @dev Skips a code point of UTF-8 beyond ASCII, as RFC 3629 has it: none longer than it must be, no surrogates,
    /// none above U+10FFFF.
    function _skipCodePoint(uint256 cursor) private pure returns (uint256) {
        unchecked {
            uint256 w = Value.wrap(cursor).word();
            uint256 lead = w >> 248;
            uint256 second = (w >> 240) & 0xff;
            uint256 more;
            uint256 from = 0x80;
            uint256 to = 0xbf;
            if (lead >= 0xc2 && lead <= 0xdf) {
                more = 1;
            } else if (lead >= 0xe0 && lead <= 0xef) {
                more = 2;
                if (lead == 0xe0) from = 0xa0;
                if (lead == 0xed) to = 0x9f;
            } else if (lead >= 0xf0 && lead <= 0xf4) {
                more = 3;
                if (lead == 0xf0) from = 0x90;
                if (lead == 0xf4) to = 0x8f;
            } else {
                return cursor | JsonReader.MALFORMED;
            }
            if (second < from || second > to) return cursor | JsonReader.MALFORMED;
            for (uint256 i = 2; i <= more; ++i) {
                if ((w >> (248 - 8 * i)) & 0xc0 != 0x80) return cursor | JsonReader.MALFORMED;
            }
            return cursor + more + 1;
        }
    }

    /// @dev Writes what stands between two addresses to `to`, without its escapes. Returns the end of what it wrote.
    function _decode(uint256 cursor, uint256 end, uint256 to) private pure returns (uint256) {
        unchecked {
            while (cursor < end) {
                uint256 c = _byteAt(cursor);
                if (c != 0x5c) {
                    to = _put(to, c);
                    ++cursor;
                    continue;
                }
                c = _byteAt(cursor + 1);
                cursor += 2;
                if (c != 0x75) {
                    to = _put(to, _meaningOf(c));
                    continue;
                }
                c = _hexAt(cursor);
                cursor += 4;
                if (c >> 10 == 0x36 && cursor + 6 <= end && Value.wrap(cursor).word() >> 240 == 0x5c75) {
                    uint256 low = _hexAt(cursor + 2);
                    if (low >> 10 == 0x37) {
                        c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
                        cursor += 6;
                    }
                }
                to = _putCodePoint(to, c);
            }
            return to;
        }
    }

    function _putCodePoint(uint256 to, uint256 c) private pure returns (uint256) {
        unchecked {
            if (c < 0x80) return _put(to, c);
            if (c < 0x800) return _put(_put(to, 0xc0 | (c >> 6)), 0x80 | (c & 0x3f));
            if (c < 0x10000) {
                to = _put(to, 0xe0 | (c >> 12));
            } else {
                to = _put(_put(to, 0xf0 | (c >> 18)), 0x80 | ((c >> 12) & 0x3f));
            }
            return _put(_put(to, 0x80 | ((c >> 6) & 0x3f)), 0x80 | (c & 0x3f));
        }
    }

    /// @dev The four hexadecimal digits at an address; above 0xffff if one of them is none.
    function _hexAt(uint256 cursor) private pure returns (uint256 result) {
        unchecked {
            for (uint256 i = 0; i < 4; ++i) {
                uint256 c = _byteAt(cursor + i);
                uint256 digit = c - 0x30;
                if (digit > 9) {
                    digit = (c | 0x20) - 0x61;
                    if (digit > 5) return type(uint256).max;
                    digit += 10;
                }
                result = (result << 4) | digit;
            }
        }
    }

    /// @dev What the character after a backslash stands for; zero if it stands for nothing.
    function _meaningOf(uint256 c) private pure returns (uint256) {
        if (c == 0x22 || c == 0x5c || c == 0x2f) return c;
        if (c == 0x6e) return 0x0a;
        if (c == 0x74) return 0x09;
        if (c == 0x72) return 0x0d;
        if (c == 0x62) return 0x08;
        if (c == 0x66) return 0x0c;
        return 0;
    }

    function _put(uint256 to, uint256 c) private pure returns (uint256) {
        assembly ("memory-safe") {
            mstore8(to, c)
        }
        unchecked {
            return to + 1;
        }
    }

    function _byteAt(uint256 cursor) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := byte(0, mload(cursor))
        }
    }
}
