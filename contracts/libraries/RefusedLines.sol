// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IContextRouter} from "../interfaces/IContextRouter.sol";
import {BatchRows} from "./BatchRows.sol";
import {Tallies} from "./Tallies.sol";

/// @title Lines that were refused, as they are reported
/// @notice One event for all lines of a row. Why a tool was refused is said once, after all rows.
library RefusedLines {
    using BatchRows for bytes;

    /// @dev What is reported of a line: the tool's id and the amount.
    uint256 private constant REPORTED_BYTES = 22;

    /// @notice Reports the lines of the row from `start` on that have a bit in `refused`, the first line lowest.
    function report(
        bytes32 batchId,
        bytes16[] calldata toolIds,
        bytes calldata rows,
        BatchRows.Row memory row,
        uint256 start,
        uint256 refused
    ) internal {
        uint256 free;
        assembly ("memory-safe") {
            free := mload(0x40)
        }
        bytes memory lines;
        uint256 length = 0;
        // A row has at most 255 lines.
        unchecked {
            // Room for every line, and for the rest of the word that the last one is written with. To join them one by
            // one would copy all that came before each time.
            uint256 count = (row.end - row.lines) / BatchRows.LINE_BYTES;
            lines = new bytes(count * REPORTED_BYTES + 32);
            for (uint256 offset = row.lines; offset < row.end; offset += BatchRows.LINE_BYTES) {
                (uint256 index, uint256 amount) = rows.line(offset);
                if (index >= toolIds.length) revert Tallies.ToolIndexOutOfRange(index, toolIds.length);
                if (refused & 1 == 1) {
                    bytes32 line = bytes32(toolIds[index]) | (bytes32(bytes6(uint48(amount))) >> 128);
                    assembly ("memory-safe") {
                        mstore(add(add(lines, 0x20), length), line)
                    }
                    length += REPORTED_BYTES;
                }
                refused >>= 1;
            }
        }
        assembly ("memory-safe") {
            mstore(lines, length)
        }
        emit IContextRouter.LinesRefused(batchId, row.payer, start, lines);
        // Nobody reads them any more, and memory costs more the more of it is used: the next row takes their place.
        assembly ("memory-safe") {
            mstore(0x40, free)
        }
    }
}
