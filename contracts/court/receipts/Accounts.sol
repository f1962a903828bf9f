// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IReceiptCourt} from "../interfaces/IReceiptCourt.sol";

/// @title What was given back, so that nothing is given back twice
/// @notice The part of ReceiptCourt that remembers: of each row how much was accounted for, and of each receipt under
/// its root the same. A receipt counts towards its row once, however many proofs it appears in.
abstract contract Accounts is IReceiptCourt {
    using SafeCast for uint256;

    /// @dev What is kept of a row.
    struct Row {
        Contest contest;
        // The hash of all its lines.
        bytes32 linesHash;
        // What was given back of it as the second payment of a charge.
        uint64 refunded;
        // What was given back of the deposit although the row was answered.
        uint64 returned;
        // What another court has given back of it.
        uint64 noted;
        // Whether its receipts prove that a charge was paid twice.
        bool isAtFault;
    }

    /// @param accounted How much of it counts towards what was accounted for of its row.
    /// @param refunded How much of it was given back as the second payment of a charge.
    /// @param isDouble Whether another receipt of the charge is the one that was rightly paid.
    /// @param isNoted Whether another court has given something of it back.
    struct Copy {
        uint64 accounted;
        uint64 refunded;
        bool isDouble;
        bool isNoted;
    }

    mapping(bytes32 batchId => mapping(address payer => Row)) internal _rows;
    mapping(bytes32 batchId => mapping(bytes32 leaf => Copy)) internal _copies;

    /// @dev Each answers for itself, so that nobody is in anybody's way.
    mapping(bytes32 batchId => mapping(address payer => mapping(address answerer => Progress))) internal _progress;

    /// @inheritdoc IReceiptCourt
    function contestOf(bytes32 batchId, address payer) external view returns (Contest memory) {
        return _rows[batchId][payer].contest;
    }

    /// @inheritdoc IReceiptCourt
    function progressOf(bytes32 batchId, address payer, address answerer) external view returns (Progress memory) {
        return _progress[batchId][payer][answerer];
    }

    /// @dev A row that was given back as a whole is closed to every other proof.
    function _checkOpen(bytes32 batchId, address payer) internal view {
        if (_rows[batchId][payer].contest.stage == Stage.Refunded) revert AlreadyRefunded(batchId, payer);
    }

    /// @dev Counts `amount` of a receipt towards its row, unless that much was counted before.
    function _account(bytes32 batchId, address payer, bytes32 leaf, uint256 amount) internal {
        Copy storage copy = _copies[batchId][leaf];
        uint256 before = copy.accounted;
        if (amount <= before) return;
        copy.accounted = amount.toUint64();
        _rows[batchId][payer].contest.accounted += (amount - before).toUint64();
    }
}
