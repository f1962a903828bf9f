// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJsonSchema, Verdict} from "../../contracts/court/interfaces/IJsonSchema.sol";

/// @title Many judgements in one call
/// @notice A node answers a call of a thousand cases as fast as one of a single case.
contract ValidateMany {
    function validate(
        IJsonSchema judge,
        bytes[] calldata schemas,
        bytes[] calldata jsons
    ) external pure returns (Verdict[] memory verdicts) {
        verdicts = new Verdict[](schemas.length);
        for (uint256 i = 0; i < schemas.length; ++i) {
            (verdicts[i], , ) = judge.validate(schemas[i], jsons[i]);
        }
    }
}
