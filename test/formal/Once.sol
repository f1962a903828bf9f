// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SettledBatches} from "../../contracts/SettledBatches.sol";

/// @dev Code that the prover knows nothing about: it may do anything, and call back as often as it likes.
interface IUnknown {
    function act() external;
}

/// @dev One batch is watched, which may be any. Whoever calls, in whatever order and for whatever batches, it is settled
/// at most once, even if charging it calls back. No chain has a block at time zero.
contract BatchSettlesOnce is SettledBatches {
    bytes32 private immutable _watched;
    bool private _settled;

    constructor(bytes32 watched) {
        _watched = watched;
    }

    function settle(bytes32 batchId, IUnknown charging) external {
        require(block.timestamp != 0);
        _settleOnce(batchId);
        if (batchId == _watched) {
            assert(!_settled);
            _settled = true;
        }
        charging.act();
    }
}

/// @dev The same whatever is kept of batches later: none of them ever looks as if it had not been settled.
contract BatchStaysSettled is SettledBatches {
    bytes32 private immutable _watched;
    bool private _settled;

    constructor(bytes32 watched) {
        _watched = watched;
    }

    function settle(bytes32 batchId) external {
        require(block.timestamp != 0);
        _settleOnce(batchId);
        if (batchId == _watched) {
            assert(!_settled);
            _settled = true;
        }
    }

    function keep(bytes32 batchId, uint256 record) external {
        _keep(batchId, record);
    }
}
