// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IContextRouter} from "../../interfaces/IContextRouter.sol";
import {BatchRows} from "../../libraries/BatchRows.sol";
import {ICharges} from "../interfaces/ICharges.sol";
import {IReceiptCourt} from "../interfaces/IReceiptCourt.sol";

/// @title What a payer paid in a settled batch
/// @notice Reads it from calldata that is shown again. What was asked for, by whom and what of it was not charged is
/// compared with what the router remembers, so that nothing here is believed.
library SettledRows {
    using BatchRows for bytes;

    /// @dev Where the arguments of `settle` begin, and the places of three of them.
    uint256 private constant ARGUMENTS = 4;
    uint256 private constant BATCH_ID = 36;
    uint256 private constant TOOL_IDS = 68;
    uint256 private constant ROWS = 100;

    /// @notice A batch that was settled in this way, and when.
    function verify(
        IContextRouter router,
        ICharges.Settlement calldata settlement
    ) internal view returns (bytes32 batchId, uint256 settledAt) {
        bytes32 exceptions;
        for (uint256 i = 0; i < settlement.exceptions.length; ++i) {
            ICharges.Exception calldata exception = settlement.exceptions[i];
            exceptions = keccak256(abi.encode(exceptions, exception.row, exception.lines));
        }
        batchId = _wordAt(settlement.call, BATCH_ID);
        bytes27 digest;
        (settledAt, digest) = router.batchOf(batchId);
        bytes32 shown = keccak256(abi.encode(settlement.operator, keccak256(settlement.call), exceptions));
        if (settledAt == 0 || bytes27(shown) != digest) revert IReceiptCourt.NotSettled(batchId);
    }

    /// @notice What a payer paid in a batch that was verified: first for the model, then line by line.
    function charged(
        ICharges.Settlement calldata settlement,
        address payer
    ) internal pure returns (IReceiptCourt.Line[] memory lines, uint256 total) {
        bytes calldata call = settlement.call;
        uint256 start = _offsetAt(call, ROWS);
        bytes calldata rows = call[start:start + uint256(_wordAt(call, start - 32))];
        BatchRows.Row memory row;
        // From the first row on, because what looks like a row may begin anywhere.
        do {
            if (row.end >= rows.length) return (lines, 0);
            start = row.end;
            rows.read(start, row);
        } while (row.payer != payer);

        uint256 refused = _refusedOf(settlement.exceptions, start);
        lines = new IReceiptCourt.Line[](1 + (row.end - row.lines) / BatchRows.LINE_BYTES);
        if (refused == type(uint256).max) return (lines, 0);
        lines[0].amount = total = row.modelCost;
        uint256 toolIds = _offsetAt(call, TOOL_IDS);
        for (uint256 i = 1; i < lines.length; ++i) {
            (uint256 index, uint256 amount) = rows.line(row.lines + (i - 1) * BatchRows.LINE_BYTES);
            // A line of nothing may name a tool that does not exist.
            if (amount == 0 || (refused >> (i - 1)) & 1 == 1) continue;
            lines[i] = IReceiptCourt.Line(bytes16(_wordAt(call, toolIds + 32 * index)), amount);
            total += amount;
        }
    }

    /// @dev Which lines of the row that begins at `start` were not charged.
    function _refusedOf(ICharges.Exception[] calldata exceptions, uint256 start) private pure returns (uint256) {
        for (uint256 i = 0; i < exceptions.length; ++i) {
            if (exceptions[i].row == start) return exceptions[i].lines;
        }
        return 0;
    }

    /// @dev Where the elements of an argument begin, behind their number. Read as the router read it, and not by the
    /// ABI's decoder in memory, which is stricter: what the router has charged can be shown.
    function _offsetAt(bytes calldata call, uint256 argument) private pure returns (uint256) {
        return ARGUMENTS + uint256(_wordAt(call, argument)) + 32;
    }

    function _wordAt(bytes calldata call, uint256 offset) private pure returns (bytes32) {
        return bytes32(call[offset:offset + 32]);
    }
}
