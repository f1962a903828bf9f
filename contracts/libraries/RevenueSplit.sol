// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The 90/10 split
/// @notice The only place that divides a charge between a tool's developer and the protocol.
library RevenueSplit {
    /// @dev The protocol's share is a tenth: one part in this many.
    uint256 internal constant PROTOCOL_PARTS = 10;

    /// @notice Splits `amount` so that no unit is lost. Rounding favours the developer.
    function split(uint256 amount) internal pure returns (uint256 developerShare, uint256 protocolShare) {
        protocolShare = amount / PROTOCOL_PARTS;
        // A tenth of an amount is never more than the amount.
        unchecked {
            developerShare = amount - protocolShare;
        }
    }
}
