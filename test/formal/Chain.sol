// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BatchChain} from "../../contracts/BatchChain.sol";

/// @dev Whoever settles in between, each batch of an operator names the one that it settled right before. The mapping is kept
/// as a twin of the contract's own: of two mappings that are always written alike the solver sees that they are equal, whatever
/// the names in them are.
contract BatchesFollowEachOther is BatchChain {
    mapping(address operator => bytes32 batchId) private _last;

    function settle(address operator, bytes32 previous, bytes32 batchId) external {
        _follow(operator, previous, batchId);
        assert(previous == _last[operator]);
        _last[operator] = batchId;
    }
}
