// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IContextRouter} from "./interfaces/IContextRouter.sol";

/// @title The chain of an operator's batches
/// @notice The part of ContextRouter that keeps them in order. Like SettledBatches it is a contract of its own, so
/// that what is proved of it holds in the router.
abstract contract BatchChain {
    /// @dev The batch that each operator has settled last; zero before the first.
    mapping(address operator => bytes32 receiptsRoot) private _heads;

    /// @dev Makes a batch its operator's last, or reverts if it does not follow the one that was the last until now.
    function _follow(address operator, bytes32 previous, bytes32 receiptsRoot) internal {
        bytes32 head = _heads[operator];
        require(previous == head, IContextRouter.BatchOutOfOrder(previous, head));
        _heads[operator] = receiptsRoot;
    }

    function _head(address operator) internal view returns (bytes32 receiptsRoot) {
        return _heads[operator];
    }
}
