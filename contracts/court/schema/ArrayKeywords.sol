// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";
import {Json, Value} from "../json/Json.sol";
import {JsonEquality} from "../json/JsonEquality.sol";
import {JsonObject} from "../json/JsonObject.sol";
import {WordSort} from "../json/WordSort.sol";
import {Assertions} from "./Assertions.sol";
import {Evaluation, Evaluator} from "./Evaluator.sol";
import {Keywords} from "./Keywords.sol";
import {Verdicts} from "./Verdicts.sol";

/// @title Keywords for arrays
library ArrayKeywords {
    function judge(
        Evaluation memory e,
        uint256 keyword,
        Value schema,
        Value name,
        Value json
    ) internal pure returns (Verdict) {
        if (keyword == Keywords.ITEMS) return _items(e, schema, name, json);
        if (keyword == Keywords.PREFIX_ITEMS) return _prefixItems(e, name, json);
        if (keyword == Keywords.CONTAINS) return _contains(e, schema, name, json);
        if (keyword == Keywords.UNIQUE_ITEMS) return _uniqueItems(e, name, json);
        if (keyword == Keywords.UNEVALUATED_ITEMS) {
            return json.count() == 0 || name.valueOf().isTrue() ? Verdict.Valid : Verdict.Unknown;
        }
        return Assertions.count(e, name, json, json.count(), keyword == Keywords.MIN_ITEMS);
    }

    /// @dev Every item behind those that `prefixItems` is about.
    function _items(Evaluation memory e, Value schema, Value name, Value json) private pure returns (Verdict verdict) {
        uint256 skip = 0;
        Value prefix = JsonObject.find(schema, keccak256("prefixItems"));
        if (prefix.exists()) {
            if (!prefix.isKind(Json.ARRAY)) return Verdict.Unknown;
            skip = prefix.count();
        }
        verdict = Verdict.Valid;
        Value end = json.next();
        for (Value item = json.first(); item.isBefore(end); item = item.next()) {
            if (skip != 0) {
                --skip;
                continue;
            }
            verdict = Verdicts.and(verdict, Evaluator.evaluate(e, name.valueOf(), item));
            if (verdict == Verdict.Invalid) break;
        }
    }

    function _prefixItems(Evaluation memory e, Value name, Value json) private pure returns (Verdict verdict) {
        if (!name.valueOf().isKind(Json.ARRAY)) return Verdict.Unknown;
        verdict = Verdict.Valid;
        Value schema = name.valueOf().first();
        Value end = name.valueOf().next();
        Value item = json.first();
        Value endOfItems = json.next();
        while (schema.isBefore(end) && item.isBefore(endOfItems)) {
            verdict = Verdicts.and(verdict, Evaluator.evaluate(e, schema, item));
            if (verdict == Verdict.Invalid) break;
            schema = schema.next();
            item = item.next();
        }
    }

    function _contains(Evaluation memory e, Value schema, Value name, Value json) private pure returns (Verdict) {
        (bool known, uint256 min, uint256 max) = _bounds(schema);
        if (!known) return Verdict.Unknown;
        uint256 valid = 0;
        uint256 unknown = 0;
        Value end = json.next();
        unchecked {
            for (Value item = json.first(); item.isBefore(end); item = item.next()) {
                Verdict next = Evaluator.evaluate(e, name.valueOf(), item);
                if (next == Verdict.Valid) ++valid;
                if (next == Verdict.Unknown) ++unknown;
            }
            Verdict verdict = Verdicts.within(valid, valid + unknown, min, max);
            return verdict == Verdict.Invalid ? Evaluator.fail(e, name, json) : verdict;
        }
    }

    /// @dev The values of `minContains` and `maxContains`.
    function _bounds(Value schema) private pure returns (bool known, uint256 min, uint256 max) {
        (known, min, max) = (true, 1, type(uint256).max);
        Value limit = JsonObject.find(schema, keccak256("minContains"));
        if (limit.exists()) (known, min) = Assertions.readCount(limit);
        limit = JsonObject.find(schema, keccak256("maxContains"));
        if (known && limit.exists()) (known, max) = Assertions.readCount(limit);
    }

    function _uniqueItems(Evaluation memory e, Value name, Value json) private pure returns (Verdict) {
        if (!name.valueOf().isKind(Json.BOOLEAN)) return Verdict.Unknown;
        if (name.valueOf().isFalse() || json.count() < 2) return Verdict.Valid;
        uint256 shift = JsonEquality.fingerprints(json) - Value.unwrap(json);
        uint256 start = Json.scratch();
        uint256 to = start;
        bool unique = true;
        Value end = json.next();
        for (Value item = json.first(); item.isBefore(end); item = item.next()) {
            assembly ("memory-safe") {
                mstore(to, mload(add(item, shift)))
                to := add(to, 32)
            }
        }
        WordSort.sort(start, to);
        assembly ("memory-safe") {
            for {
                let at := add(start, 32)
            } lt(at, to) {
                at := add(at, 32)
            } {
                if eq(mload(at), mload(sub(at, 32))) {
                    unique := 0
                }
            }
        }
        return Evaluator.check(e, name, json, unique);
    }
}
