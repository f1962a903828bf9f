// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What becomes of what a slash takes
/// @notice Refunds first, then the bounty out of what they leave, then the rest: no unit is lost or made.
library SlashSplit {
    /// @notice What a harmed payer gets of `amount`, if `slashed` was taken for refunds of `proposed` in all: all of
    /// it, or its part of what there is. Rounded down, so that the parts never exceed the whole.
    function refund(uint256 amount, uint256 proposed, uint256 slashed) internal pure returns (uint256) {
        return slashed >= proposed ? amount : (amount * slashed) / proposed;
    }

    /// @notice What is promised to the reporter. Rounded down, in favour of the insurance account.
    function bountyOf(uint256 slashed, uint256 bountyBps) internal pure returns (uint256) {
        return (slashed * bountyBps) / 10_000;
    }

    /// @notice What the reporter gets of what it was promised, and what is left.
    function split(
        uint256 slashed,
        uint256 refunded,
        uint256 promised
    ) internal pure returns (uint256 bounty, uint256 remainder) {
        uint256 left = slashed - refunded;
        bounty = promised;
        if (bounty > left) bounty = left;
        remainder = left - bounty;
    }
}
