// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IContextRouter} from "./interfaces/IContextRouter.sol";

/// @title The chain of an operator's batches
/// @notice The part of ContextRouter that keeps them in order. Like SettledBatches it is a contract of its own, so
/// that what is proved of it holds in the router.
abstract contract BatchChain {
    /// @dev The batch that each operator has settled last; zero before the first.
    mapping(address operator => bytes32 batchId) private _heads;

    /// @dev Makes a batch its operator's last, or reverts if it does not follow the one that was the last until now.
    function _follow(address operator, bytes32 previous, bytes32 batchId) internal {
        bytes32 head = _heads[operator];
        require(previous == head, IContextRouter.BatchOutOfOrder(previous, head));
        _heads[operator] = batchId;
    }

    function _head(address operator) internal view returns (bytes32 batchId) {
        return _heads[operator];
    }
}
