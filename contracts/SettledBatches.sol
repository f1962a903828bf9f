// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IContextRouter} from "./interfaces/IContextRouter.sol";

/// @title Batches that were settled, each of them once
/// @notice The part of ContextRouter that remembers. It is a contract of its own because its storage is private to it:
/// nothing else can write there, so what is proved of these few lines holds in the router, whatever else it does.
abstract contract SettledBatches {
    mapping(bytes32 receiptsRoot => uint256 timestamp) private _settledAt;

    /// @dev Remembers a batch for ever, or reverts if it is remembered already.
    function _settleOnce(bytes32 receiptsRoot) internal {
        uint256 timestamp = _settledAt[receiptsRoot];
        require(timestamp == 0, IContextRouter.BatchAlreadySettled(receiptsRoot, timestamp));
        _settledAt[receiptsRoot] = block.timestamp;
    }

    /// @dev When a batch was settled; zero if it was not.
    function _whenSettled(bytes32 receiptsRoot) internal view returns (uint256 timestamp) {
        return _settledAt[receiptsRoot];
    }
}
