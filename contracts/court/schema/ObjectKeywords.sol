// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";
import {Json, Value} from "../json/Json.sol";
import {JsonObject, Members} from "../json/JsonObject.sol";
import {JsonString} from "../json/JsonString.sol";
import {Assertions} from "./Assertions.sol";
import {Evaluation, Evaluator} from "./Evaluator.sol";
import {Keywords} from "./Keywords.sol";
import {PlainPattern} from "./PlainPattern.sol";
import {Verdicts} from "./Verdicts.sol";

/// @title Keywords for objects
library ObjectKeywords {
    function judge(
        Evaluation memory e,
        uint256 keyword,
        Value schema,
        Value name,
        Value json
    ) internal pure returns (Verdict) {
        if (keyword == Keywords.ADDITIONAL_PROPERTIES) return _additionalProperties(e, schema, name, json);
        if (keyword == Keywords.PROPERTY_NAMES) return _propertyNames(e, name, json);
        if (keyword == Keywords.REQUIRED) return _required(e, name, name.valueOf(), json);
        if (keyword == Keywords.UNEVALUATED_PROPERTIES) {
            return json.count() == 0 || name.valueOf().isTrue() ? Verdict.Valid : Verdict.Unknown;
        }
        if (keyword == Keywords.MIN_PROPERTIES || keyword == Keywords.MAX_PROPERTIES) {
            uint256 size = JsonObject.members(json).size();
            return Assertions.count(e, name, json, size, keyword == Keywords.MIN_PROPERTIES);
        }
        // The value of each keyword that is left is an object.
        if (!name.valueOf().isKind(Json.OBJECT)) return Verdict.Unknown;
        if (keyword == Keywords.PATTERN_PROPERTIES) return _patternProperties(e, name, json);
        return _named(e, keyword, name, json);
    }

    /// @dev `properties`, `dependentSchemas` and `dependentRequired`: what is said of each name that the object has.
    function _named(
        Evaluation memory e,
        uint256 keyword,
        Value name,
        Value json
    ) private pure returns (Verdict verdict) {
        verdict = Verdict.Valid;
        Members said = JsonObject.members(name.valueOf());
        unchecked {
            for (uint256 i = said.size(); i != 0; --i) {
                Value property = said.nameAt(i - 1);
                Value value = JsonObject.find(json, bytes32(property.word()));
                if (!value.exists()) continue;
                Verdict next =
                    keyword == Keywords.DEPENDENT_REQUIRED
                        ? _required(e, name, property.valueOf(), json)
                        : Evaluator.evaluate(e, property.valueOf(), keyword == Keywords.PROPERTIES ? value : json);
                verdict = Verdicts.and(verdict, next);
                if (verdict == Verdict.Invalid) break;
            }
        }
    }

    function _required(Evaluation memory e, Value name, Value names, Value json) private pure returns (Verdict) {
        if (!names.isKind(Json.ARRAY)) return Verdict.Unknown;
        bool hasAll = true;
        Value end = names.next();
        for (Value item = names.first(); item.isBefore(end); item = item.next()) {
            if (!item.isKind(Json.STRING)) return Verdict.Unknown;
            hasAll = hasAll && JsonObject.find(json, JsonString.hash(item)).exists();
        }
        return Evaluator.check(e, name, json, hasAll);
    }

    /// @dev Every property that neither `properties` names nor `patternProperties` matches.
    function _additionalProperties(
        Evaluation memory e,
        Value schema,
        Value name,
        Value json
    ) private pure returns (Verdict verdict) {
        if (name.valueOf().isTrue()) return Verdict.Valid;
        Value properties = JsonObject.find(schema, keccak256("properties"));
        Value patterns = JsonObject.find(schema, keccak256("patternProperties"));
        if (properties.exists() && !properties.isKind(Json.OBJECT)) return Verdict.Unknown;
        if (patterns.exists() && !patterns.isKind(Json.OBJECT)) return Verdict.Unknown;
        verdict = Verdict.Valid;
        Members members = JsonObject.members(json);
        unchecked {
            for (uint256 i = members.size(); i != 0; --i) {
                Value property = members.nameAt(i - 1);
                if (properties.exists() && JsonObject.find(properties, bytes32(property.word())).exists()) continue;
                Verdict matched = patterns.exists() ? _matchesAny(patterns, property) : Verdict.Invalid;
                if (matched == Verdict.Valid) continue;
                Verdict next = Evaluator.evaluate(e, name.valueOf(), property.valueOf());
                verdict = Verdicts.and(verdict, matched == Verdict.Unknown ? Verdicts.perhaps(next) : next);
                if (verdict == Verdict.Invalid) break;
            }
        }
    }

    function _matchesAny(Value patterns, Value property) private pure returns (Verdict verdict) {
        verdict = Verdict.Invalid;
        Members members = JsonObject.members(patterns);
        for (uint256 i = 0; i < members.size(); ++i) {
            Verdict next = PlainPattern.matches(members.nameAt(i), property);
            if (next == Verdict.Valid) return next;
            if (next == Verdict.Unknown) verdict = next;
        }
    }

    function _patternProperties(Evaluation memory e, Value name, Value json) private pure returns (Verdict verdict) {
        verdict = Verdict.Valid;
        Members patterns = JsonObject.members(name.valueOf());
        Members members = JsonObject.members(json);
        unchecked {
            for (uint256 i = patterns.size() * members.size(); i != 0; --i) {
                Value pattern = patterns.nameAt((i - 1) / members.size());
                Value property = members.nameAt((i - 1) % members.size());
                Verdict matched = PlainPattern.matches(pattern, property);
                if (matched == Verdict.Invalid) continue;
                Verdict next = Evaluator.evaluate(e, pattern.valueOf(), property.valueOf());
                verdict = Verdicts.and(verdict, matched == Verdict.Unknown ? Verdicts.perhaps(next) : next);
                if (verdict == Verdict.Invalid) break;
            }
        }
    }

    function _propertyNames(Evaluation memory e, Value name, Value json) private pure returns (Verdict verdict) {
        verdict = Verdict.Valid;
        Members members = JsonObject.members(json);
        unchecked {
            for (uint256 i = members.size(); i != 0; --i) {
                // A name is a string like any other, and stands on the tape as one.
                verdict = Verdicts.and(verdict, Evaluator.evaluate(e, name.valueOf(), members.nameAt(i - 1)));
                if (verdict == Verdict.Invalid) break;
            }
        }
    }
}
