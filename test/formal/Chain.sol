// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BatchChain} from "../../contracts/BatchChain.sol";

/// @dev One operator is watched, which may be any. Whoever settles in between, each of its batches names the one that it settled
/// right before.
contract BatchesFollowEachOther is BatchChain {
    address private immutable _watched;
    bytes32 private _last;

    constructor(address watched) {
        _watched = watched;
    }

    function settle(address operator, bytes32 previous, bytes32 batchId) external {
        _follow(operator, previous, batchId);
        if (operator == _watched) {
            assert(previous == _last);
            _last = batchId;
        }
    }
}
