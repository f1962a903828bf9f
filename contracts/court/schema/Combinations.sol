// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";
import {Json, Value} from "../json/Json.sol";
import {JsonObject} from "../json/JsonObject.sol";
import {Evaluation, Evaluator} from "./Evaluator.sol";
import {Keywords} from "./Keywords.sol";
import {Verdicts} from "./Verdicts.sol";

/// @title Keywords that combine schemas
library Combinations {
    function judge(
        Evaluation memory e,
        uint256 keyword,
        Value schema,
        Value name,
        Value json
    ) internal pure returns (Verdict) {
        if (keyword == Keywords.ALL_OF) return _all(e, name, json);
        if (keyword == Keywords.ANY_OF) return _some(e, name, json, type(uint256).max);
        if (keyword == Keywords.ONE_OF) return _some(e, name, json, 1);
        if (keyword == Keywords.NOT) return _not(e, name, json);
        return keyword == Keywords.IF ? _if(e, schema, name, json) : Verdict.Unknown;
    }

    function _all(Evaluation memory e, Value name, Value json) private pure returns (Verdict verdict) {
        Value schemas = name.valueOf();
        if (!_isSchemaArray(schemas)) return Verdict.Unknown;
        verdict = Verdict.Valid;
        Value end = schemas.next();
        for (Value item = schemas.first(); item.isBefore(end); item = item.next()) {
            verdict = Verdicts.and(verdict, Evaluator.evaluate(e, item, json));
            if (verdict == Verdict.Invalid) break;
        }
    }

    /// @dev At least one of the schemas must hold, and item most `max`.
    function _some(Evaluation memory e, Value name, Value json, uint256 max) private pure returns (Verdict) {
        if (!_isSchemaArray(name.valueOf())) return Verdict.Unknown;
        uint256 valid = 0;
        uint256 unknown = 0;
        Value end = name.valueOf().next();
        unchecked {
            for (Value item = name.valueOf().first(); item.isBefore(end); item = item.next()) {
                Verdict next = Evaluator.evaluate(e, item, json);
                if (next == Verdict.Valid) ++valid;
                if (next == Verdict.Unknown) ++unknown;
                // What comes after can change nothing any more.
                if (valid > max || (valid != 0 && max == type(uint256).max)) break;
            }
            Verdict verdict = Verdicts.within(valid, valid + unknown, 1, max);
            return verdict == Verdict.Invalid ? Evaluator.fail(e, name, json) : verdict;
        }
    }

    function _not(Evaluation memory e, Value name, Value json) private pure returns (Verdict) {
        Verdict verdict = Verdicts.not(Evaluator.evaluate(e, name.valueOf(), json));
        return verdict == Verdict.Invalid ? Evaluator.fail(e, name, json) : verdict;
    }

    function _if(Evaluation memory e, Value schema, Value name, Value json) private pure returns (Verdict) {
        Verdict condition = Evaluator.evaluate(e, name.valueOf(), json);
        if (condition == Verdict.Valid) return _branch(e, JsonObject.find(schema, keccak256("then")), json);
        if (condition == Verdict.Invalid) return _branch(e, JsonObject.find(schema, keccak256("else")), json);
        Verdict whenTrue = _branch(e, JsonObject.find(schema, keccak256("then")), json);
        Verdict whenFalse = _branch(e, JsonObject.find(schema, keccak256("else")), json);
        return Verdicts.either(whenTrue, whenFalse);
    }

    function _branch(Evaluation memory e, Value schema, Value json) private pure returns (Verdict) {
        return schema.exists() ? Evaluator.evaluate(e, schema, json) : Verdict.Valid;
    }

    function _isSchemaArray(Value schemas) private pure returns (bool) {
        return schemas.isKind(Json.ARRAY) && schemas.count() != 0;
    }
}
