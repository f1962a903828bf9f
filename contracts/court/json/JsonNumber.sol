// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Json, Value} from "./Json.sol";

/// @notice A number as ±0.d₁d₂…dₙ × 10^magnitude, where neither the first nor the last digit is a zero. That form is
/// unique, so that numbers are equal if their forms are. The digits stay in the text, where a point may stand between
/// them.
/// @param negative Whether it is below zero.
/// @param digits How many digits there are; zero for the number zero.
/// @param first The address of the first digit.
/// @param magnitude The power of ten.
struct Decimal {
    bool negative;
    uint256 digits;
    uint256 first;
    int256 magnitude;
}

/// @title Numbers of JSON, exact at any length
/// @notice There is no binary fraction here: 0.1 is a tenth, and 1, 1.0 and 1e0 are the same number.
library JsonNumber {
    /// @dev Every number of so many digits fits into a word.
    uint256 internal constant MAX_DIVISOR_DIGITS = 77;

    /// @notice The number that a value is. It is read once; the word of the value keeps where it then is.
    function parse(Value value) internal pure returns (Decimal memory decimal) {
        uint256 word = value.word();
        uint256 known = word >> Json.NEXT_SHIFT;
        if (known != 0) {
            assembly ("memory-safe") {
                decimal := known
            }
            return decimal;
        }
        decimal = _parse(value);
        assembly ("memory-safe") {
            known := decimal
        }
        value.setWord(word | (known << Json.NEXT_SHIFT));
    }

    function _parse(Value value) private pure returns (Decimal memory decimal) {
        (uint256 cursor, uint256 end) = value.text();
        unchecked {
            if (_byteAt(cursor) == 0x2d) {
                decimal.negative = true;
                ++cursor;
            }
            // Digits before the point, from the first that is no zero; then, less one for each zero behind the point
            // that comes before it.
            int256 magnitude = 0;
            uint256 seen = 0;
            bool fraction = false;
            for (; cursor < end; ++cursor) {
                uint256 digit = _byteAt(cursor) - 0x30;
                if (digit > 9) {
                    if (fraction || digit + 0x30 != 0x2e) break;
                    fraction = true;
                    continue;
                }
                if (digit != 0 && seen == 0) decimal.first = cursor;
                if (decimal.first != 0) {
                    ++seen;
                    if (digit != 0) decimal.digits = seen;
                    if (!fraction) ++magnitude;
                } else if (fraction) {
                    --magnitude;
                }
            }
            if (decimal.digits == 0) decimal.negative = false;
            else decimal.magnitude = magnitude + _exponent(cursor, end);
        }
    }

    /// @notice Whether it has no fraction; 1.0 has none.
    function isInteger(Decimal memory number) internal pure returns (bool) {
        return number.magnitude >= int256(number.digits);
    }

    /// @notice Below zero, zero or above zero, as `a` is less than, equal to or greater than `b`.
    function compare(Decimal memory a, Decimal memory b) internal pure returns (int256) {
        if (a.digits == 0 || b.digits == 0 || a.negative != b.negative) return _sign(a) - _sign(b);
        int256 order = a.magnitude == b.magnitude ? _compareDigits(a, b) : a.magnitude - b.magnitude;
        return a.negative ? -order : order;
    }

    /// @notice Whether `number` is a whole multiple of `divisor`, which is above zero and has few enough digits.
    function isMultiple(Decimal memory number, Decimal memory divisor) internal pure returns (bool) {
        if (number.digits == 0) return true;
        // Both without their powers of ten are whole and end in no zero. Fewer of them than the divisor has cannot do.
        int256 tens = number.magnitude - int256(number.digits) - divisor.magnitude + int256(divisor.digits);
        if (tens < 0) return false;
        uint256 modulus = _remainder(divisor, type(uint256).max);
        uint256 rest = _remainder(number, modulus);
        uint256 power = 10 % modulus;
        for (uint256 exponent = uint256(tens); exponent != 0 && rest != 0; exponent >>= 1) {
            if (exponent & 1 != 0) rest = mulmod(rest, power, modulus);
            power = mulmod(power, power, modulus);
        }
        return rest == 0;
    }

    /// @notice Reads a count, such as the value of `minItems`: whole and not negative. What no text can have so many
    /// of is the largest number.
    function toCount(Decimal memory number) internal pure returns (bool isCount, uint256 count) {
        if (number.negative || !isInteger(number)) return (false, 0);
        if (number.magnitude > 9) return (true, type(uint256).max);
        count = _remainder(number, type(uint256).max);
        return (true, count * 10 ** uint256(number.magnitude - int256(number.digits)));
    }

    /// @notice A hash that equal numbers share.
    /// @param scratch Memory that may be overwritten from here on.
    function hash(Decimal memory number, uint256 scratch) internal pure returns (bytes32 result) {
        uint256 cursor = number.first;
        unchecked {
            uint256 to = scratch + 64;
            for (uint256 i = 0; i < number.digits; ++i) {
                uint256 c;
                (c, cursor) = _next(cursor);
                assembly ("memory-safe") {
                    mstore8(to, c)
                }
                ++to;
            }
            bool negative = number.negative;
            int256 magnitude = number.magnitude;
            assembly ("memory-safe") {
                mstore(scratch, negative)
                mstore(add(scratch, 32), magnitude)
                result := keccak256(scratch, sub(to, scratch))
            }
        }
    }

    function _sign(Decimal memory number) private pure returns (int256) {
        if (number.digits == 0) return 0;
        return number.negative ? -1 : int256(1);
    }

    function _compareDigits(Decimal memory a, Decimal memory b) private pure returns (int256) {
        (uint256 atA, uint256 atB) = (a.first, b.first);
        unchecked {
            for (uint256 i = 0; i < a.digits && i < b.digits; ++i) {
                uint256 digitA;
                uint256 digitB;
                (digitA, atA) = _next(atA);
                (digitB, atB) = _next(atB);
                if (digitA != digitB) return int256(digitA) - int256(digitB);
            }
            return int256(a.digits) - int256(b.digits);
        }
    }

    /// @dev What is left of the digits, taken as a whole number, modulo `modulus`.
    function _remainder(Decimal memory number, uint256 modulus) private pure returns (uint256 rest) {
        uint256 cursor = number.first;
        unchecked {
            for (uint256 i = 0; i < number.digits; ++i) {
                uint256 digit;
                (digit, cursor) = _next(cursor);
                rest = addmod(mulmod(rest, 10, modulus), digit - 0x30, modulus);
            }
        }
    }

    /// @dev The digit at an address, or behind the point there, and the address after it.
    function _next(uint256 cursor) private pure returns (uint256 digit, uint256 next) {
        unchecked {
            digit = _byteAt(cursor);
            if (digit != 0x2e) return (digit, cursor + 1);
            return (_byteAt(cursor + 1), cursor + 2);
        }
    }

    /// @dev The exponent at an address, where a text may also be over. The reader has seen that it is not too long.
    function _exponent(uint256 cursor, uint256 end) private pure returns (int256 exponent) {
        unchecked {
            bool negative = _byteAt(cursor + 1) == 0x2d;
            for (++cursor; cursor < end; ++cursor) {
                uint256 digit = _byteAt(cursor) - 0x30;
                if (digit < 10) exponent = exponent * 10 + int256(digit);
            }
            if (negative) exponent = -exponent;
        }
    }

    function _byteAt(uint256 cursor) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := byte(0, mload(cursor))
        }
    }
}
