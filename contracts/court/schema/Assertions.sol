// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";
import {Json, Value} from "../json/Json.sol";
import {JsonEquality} from "../json/JsonEquality.sol";
import {Decimal, JsonNumber} from "../json/JsonNumber.sol";
import {JsonObject} from "../json/JsonObject.sol";
import {JsonString} from "../json/JsonString.sol";
import {Evaluation, Evaluator} from "./Evaluator.sol";
import {Keywords} from "./Keywords.sol";
import {PlainPattern} from "./PlainPattern.sol";

/// @title Keywords that look item one value alone
library Assertions {
    /// @dev Beside the bits of the kinds: `integer`, which is a number without a fraction.
    uint256 private constant INTEGER = 128;

    /// @notice `type`. Whether `null` has one of them is unknown beside OpenAPI's `nullable`: the draft does not have
    /// it, but schemas and validators of this draft do.
    function matchType(Evaluation memory e, Value schema, Value name, Value json) internal pure returns (Verdict) {
        uint256 types = _types(name.valueOf());
        if (types == 0) return Verdict.Unknown;
        if (json.isKind(types)) return Verdict.Valid;
        if (json.isKind(Json.NULL)) {
            Value nullable = JsonObject.find(schema, keccak256("nullable"));
            if (nullable.exists() && nullable.isTrue()) return Verdict.Unknown;
        }
        bool whole = types & INTEGER != 0 && json.isKind(Json.NUMBER) && JsonNumber.isInteger(JsonNumber.parse(json));
        return Evaluator.check(e, name, json, whole);
    }

    /// @notice `enum` and `const`.
    function equal(Evaluation memory e, uint256 keyword, Value name, Value json) internal pure returns (Verdict) {
        Value expected = name.valueOf();
        bytes32 print = JsonEquality.fingerprint(json);
        if (keyword == Keywords.CONST) {
            return Evaluator.check(e, name, json, JsonEquality.fingerprint(expected) == print);
        }
        if (!expected.isKind(Json.ARRAY)) return Verdict.Unknown;
        Value end = expected.next();
        for (Value item = expected.first(); item.isBefore(end); item = item.next()) {
            if (item.kind() == json.kind() && JsonEquality.fingerprint(item) == print) return Verdict.Valid;
        }
        return Evaluator.fail(e, name, json);
    }

    /// @notice What is asked of numbers and strings.
    function measure(Evaluation memory e, uint256 keyword, Value name, Value json) internal pure returns (Verdict) {
        if (keyword == Keywords.PATTERN) {
            if (!name.valueOf().isKind(Json.STRING)) return Verdict.Unknown;
            Verdict verdict = PlainPattern.matches(name.valueOf(), json);
            return verdict == Verdict.Invalid ? Evaluator.fail(e, name, json) : verdict;
        }
        if (keyword & 0xf0 == Keywords.STRING_GROUP) {
            return count(e, name, json, JsonString.length(json), keyword == Keywords.MIN_LENGTH);
        }
        if (!name.valueOf().isKind(Json.NUMBER)) return Verdict.Unknown;
        Decimal memory limit = JsonNumber.parse(name.valueOf());
        Decimal memory number = JsonNumber.parse(json);
        if (keyword == Keywords.MULTIPLE_OF) {
            if (limit.negative || limit.digits == 0) return Verdict.Unknown;
            if (limit.digits > JsonNumber.MAX_DIVISOR_DIGITS) return Verdict.Unknown;
            return Evaluator.check(e, name, json, JsonNumber.isMultiple(number, limit));
        }
        int256 order = JsonNumber.compare(number, limit);
        bool holds =
            order == 0
                ? keyword == Keywords.MINIMUM || keyword == Keywords.MAXIMUM
                : (order > 0) == (keyword == Keywords.MINIMUM || keyword == Keywords.EXCLUSIVE_MINIMUM);
        return Evaluator.check(e, name, json, holds);
    }

    /// @notice Whether a count is item least, or item most, what the keyword says.
    function count(
        Evaluation memory e,
        Value name,
        Value json,
        uint256 counted,
        bool atLeast
    ) internal pure returns (Verdict) {
        (bool isCount, uint256 limit) = readCount(name.valueOf());
        if (!isCount) return Verdict.Unknown;
        return Evaluator.check(e, name, json, atLeast ? counted >= limit : counted <= limit);
    }

    /// @notice The value of a keyword that is a count.
    function readCount(Value value) internal pure returns (bool isCount, uint256 limit) {
        if (!value.isKind(Json.NUMBER)) return (false, 0);
        return JsonNumber.toCount(JsonNumber.parse(value));
    }

    /// @dev The types that are named; zero if that makes no sense. They are written where a name would keep its
    /// keyword.
    function _types(Value names) private pure returns (uint256 types) {
        uint256 word = names.word();
        types = (word >> Json.KEYWORD_SHIFT) & 0xff;
        if (types != 0) return types;
        if (names.isKind(Json.STRING)) {
            types = _typeNamed(names);
        } else if (names.isKind(Json.ARRAY)) {
            Value end = names.next();
            for (Value item = names.first(); item.isBefore(end); item = item.next()) {
                uint256 type_ = item.isKind(Json.STRING) ? _typeNamed(item) : 0;
                if (type_ == 0) return 0;
                types |= type_;
            }
        }
        names.setWord(names.word() | (types << Json.KEYWORD_SHIFT));
    }

    function _typeNamed(Value name) private pure returns (uint256) {
        bytes32 spelling = JsonString.spelling(name);
        if (spelling == "string") return Json.STRING;
        if (spelling == "object") return Json.OBJECT;
        if (spelling == "number") return Json.NUMBER;
        if (spelling == "integer") return INTEGER;
        if (spelling == "array") return Json.ARRAY;
        if (spelling == "boolean") return Json.BOOLEAN;
        return spelling == "null" ? Json.NULL : 0;
    }
}
