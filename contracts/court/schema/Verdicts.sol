// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";

/// @title Logic with three values
/// @notice Each rule answers Valid or Invalid only if it would for every way in which what is unknown may turn out.
library Verdicts {
    function and(Verdict a, Verdict b) internal pure returns (Verdict) {
        if (a == Verdict.Invalid || b == Verdict.Invalid) return Verdict.Invalid;
        return a == Verdict.Valid ? b : Verdict.Unknown;
    }

    function not(Verdict a) internal pure returns (Verdict) {
        if (a == Verdict.Unknown) return a;
        return a == Verdict.Valid ? Verdict.Invalid : Verdict.Valid;
    }

    /// @notice What becomes of `a` if it is unknown whether `a` is asked at all.
    function perhaps(Verdict a) internal pure returns (Verdict) {
        return a == Verdict.Invalid ? Verdict.Unknown : a;
    }

    /// @notice What becomes of a choice that is unknown: only what both sides agree on.
    function either(Verdict a, Verdict b) internal pure returns (Verdict) {
        return a == b ? a : Verdict.Unknown;
    }

    /// @notice Whether a number between `least` and `most` is one between `min` and `max`.
    function within(uint256 least, uint256 most, uint256 min, uint256 max) internal pure returns (Verdict) {
        if (most < min || least > max) return Verdict.Invalid;
        return least >= min && most <= max ? Verdict.Valid : Verdict.Unknown;
    }
}
