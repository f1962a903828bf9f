// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ISchemaCourt} from "./interfaces/ISchemaCourt.sol";

/// @title Periods in which something holds
library Periods {
    using SafeCast for uint256;

    /// @notice Lets it hold from `timestamp` on. What has held before keeps its beginning: otherwise whoever ends and
    /// begins it again could make what was signed under it unprovable.
    function begin(ISchemaCourt.Period storage period, uint256 timestamp) internal {
        if (period.from == 0) period.from = timestamp.toUint40();
        period.until = 0;
    }

    /// @notice Ends it at `timestamp`.
    function end(ISchemaCourt.Period storage period, uint256 timestamp) internal {
        period.until = timestamp.toUint40();
    }

    function covers(ISchemaCourt.Period storage period, uint256 timestamp) internal view returns (bool) {
        (uint256 from, uint256 until) = (period.from, period.until);
        return from != 0 && timestamp >= from && (until == 0 || timestamp < until);
    }
}
