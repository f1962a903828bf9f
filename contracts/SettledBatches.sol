// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IContextRouter} from "./interfaces/IContextRouter.sol";

/// @title Batches that were settled, each of them once
/// @notice The part of ContextRouter that remembers. It is a contract of its own because its storage is private to
/// it: nothing else can write there, so what is proved of these few lines holds in the router, whatever else it does.
abstract contract SettledBatches {
    /// @dev What is kept of each settled batch; zero for any other.
    mapping(bytes32 batchId => uint256 record) private _records;

    /// @dev Remembers that a batch is settled, or reverts if it was settled before.
    function _settleOnce(bytes32 batchId) internal {
        uint256 record = _records[batchId];
        require(record == 0, IContextRouter.BatchAlreadySettled(batchId, uint40(record)));
        _records[batchId] = block.timestamp;
    }

    /// @dev Keeps more of a batch than its time. A settled batch never looks as if it were none.
    function _keep(bytes32 batchId, uint256 record) internal {
        require(record != 0, IContextRouter.EmptyBatch());
        _records[batchId] = record;
    }

    function _recordOf(bytes32 batchId) internal view returns (uint256 record) {
        return _records[batchId];
    }
}
