// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";
import {Json, Value} from "../json/Json.sol";
import {JsonObject, Members} from "../json/JsonObject.sol";
import {ArrayKeywords} from "./ArrayKeywords.sol";
import {Assertions} from "./Assertions.sol";
import {Combinations} from "./Combinations.sol";
import {Keywords} from "./Keywords.sol";
import {ObjectKeywords} from "./ObjectKeywords.sol";
import {References} from "./References.sol";

/// @notice What is kept while a text is judged.
/// @param root The whole schema.
/// @param depth How many schemas are being applied within one another.
/// @param followed Whether references are followed; see References.
/// @param anchors How many anchors there are, or what looks like one.
/// @param failedAt Where in the schema the last failure was: a keyword's name, or the schema `false`.
/// @param failed The value that failed there.
struct Evaluation {
    Value root;
    uint256 depth;
    bool followed;
    uint256 anchors;
    Value failedAt;
    Value failed;
}

/// @title Applies a schema to a value
/// @notice All keywords of a schema must hold. The first that fails decides, so that what is noted last about a
/// failure is about the one that counts.
library Evaluator {
    /// @dev How deep schemas are applied within one another. A machine has 1024 words of stack, and must not be short
    /// of them before.
    uint256 internal constant MAX_DEPTH = 40;

    function evaluate(Evaluation memory e, Value schema, Value json) internal pure returns (Verdict verdict) {
        if (!schema.isKind(Json.OBJECT)) {
            if (schema.isTrue()) return Verdict.Valid;
            return schema.isFalse() ? fail(e, schema, json) : Verdict.Unknown;
        }
        if (e.depth == MAX_DEPTH) return Verdict.Unknown;
        verdict = Verdict.Valid;
        unchecked {
            ++e.depth;
            Members members = JsonObject.members(schema);
            for (uint256 i = members.size(); i != 0; --i) {
                Verdict next = _apply(e, schema, members.nameAt(i - 1), json);
                if (next == Verdict.Valid) continue;
                verdict = next;
                if (next == Verdict.Invalid) break;
            }
            --e.depth;
        }
    }

    /// @notice Notes where a value fails.
    function fail(Evaluation memory e, Value place, Value json) internal pure returns (Verdict) {
        e.failedAt = place;
        e.failed = json;
        return Verdict.Invalid;
    }

    /// @notice Notes where a value fails, if it does.
    function check(Evaluation memory e, Value place, Value json, bool holds) internal pure returns (Verdict) {
        return holds ? Verdict.Valid : fail(e, place, json);
    }

    function _apply(Evaluation memory e, Value schema, Value name, Value json) private pure returns (Verdict) {
        uint256 keyword = Keywords.recognize(name);
        if (!Keywords.appliesTo(keyword, json.kind())) return Verdict.Valid;
        uint256 group = keyword & 0xf0;
        if (group == Keywords.OBJECT_GROUP) return ObjectKeywords.judge(e, keyword, schema, name, json);
        if (group == Keywords.ARRAY_GROUP) return ArrayKeywords.judge(e, keyword, schema, name, json);
        if (group != Keywords.ANY_GROUP) return Assertions.measure(e, keyword, name, json);
        if (keyword == Keywords.TYPE) return Assertions.matchType(e, schema, name, json);
        if (keyword == Keywords.ENUM || keyword == Keywords.CONST) return Assertions.equal(e, keyword, name, json);
        if (keyword == Keywords.REF) return References.follow(e, name, json);
        return Combinations.judge(e, keyword, schema, name, json);
    }
}
