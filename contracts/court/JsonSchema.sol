// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJsonSchema, Verdict} from "./interfaces/IJsonSchema.sol";
import {Value} from "./json/Json.sol";
import {JsonReader} from "./json/JsonReader.sol";
import {Evaluation, Evaluator} from "./schema/Evaluator.sol";
import {References} from "./schema/References.sol";

/// @title JsonSchema
/// @notice See IJsonSchema. No state, no owner and no calls: whoever asks gets the same answer at any time.
contract JsonSchema is IJsonSchema {
    /// @notice The longest text that is judged.
    uint256 public constant MAX_BYTES = 65536;

    /// @inheritdoc IJsonSchema
    function validate(
        bytes calldata schema,
        bytes calldata json
    ) external pure returns (Verdict verdict, uint256 schemaOffset, uint256 jsonOffset) {
        if (schema.length > MAX_BYTES || json.length > MAX_BYTES) return (Verdict.Unknown, 0, 0);
        uint256 schemaStart = JsonReader.load(schema);
        (Value root, uint256 failure) = JsonReader.read(schemaStart, schema.length);
        if (failure != 0) return (Verdict.Unknown, 0, 0);
        uint256 jsonStart = JsonReader.load(json);
        Value value;
        (value, failure) = JsonReader.read(jsonStart, json.length);
        if (failure & JsonReader.IMMENSE != 0) return (Verdict.Unknown, 0, 0);
        if (failure != 0) return (Verdict.Invalid, 0, (failure ^ JsonReader.MALFORMED) - jsonStart);

        Evaluation memory evaluation;
        evaluation.root = root;
        bool ofThisDraft;
        (ofThisDraft, evaluation.followed, evaluation.anchors) = References.survey(root);
        if (!ofThisDraft) return (Verdict.Unknown, 0, 0);
        verdict = Evaluator.evaluate(evaluation, root, value);
        if (verdict == Verdict.Invalid) {
            (uint256 position, ) = evaluation.failedAt.text();
            schemaOffset = position - schemaStart;
            (position, ) = evaluation.failed.text();
            jsonOffset = position - jsonStart;
        }
    }
}
