// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The packed rows of a batch
/// @notice Reads what `IContextRouter` describes. Rows are packed because a batch is paid for by the byte and the ABI
/// would pad every 6-byte amount to 32.
library BatchRows {
    /// @dev The flags of a row.
    uint256 internal constant PREPAID = 1;
    uint256 internal constant BUDGET = 2;
    uint256 internal constant SIGNED = 4;
    uint256 internal constant TOOLS = 8;

    /// @dev Payer (20), flags (1), model cost (6), number of lines (1).
    uint256 internal constant HEAD_BYTES = 28;

    /// @dev Amount (6), tool index (1).
    uint256 internal constant LINE_BYTES = 7;

    uint256 private constant BUDGET_ID_BYTES = 8;
    uint256 private constant TOOL_ID_BYTES = 16;

    /// @dev Most to be spent (6), valid until (5), length of the signature (2).
    uint256 private constant SIGNED_BYTES = 13;

    /// @param payer Who is charged.
    /// @param flags What the row draws on.
    /// @param modelCost What goes to the treasury alone.
    /// @param budgetId The payer's budget that the row draws on.
    /// @param maxSpend What the signature allows to be spent in all.
    /// @param validUntil Until when.
    /// @param signature Where the signature begins; it ends where the lines begin.
    /// @param tools Where the ids of the budget's tools begin.
    /// @param toolCount How many they are.
    /// @param lines Where the lines begin.
    /// @param end Where the next row begins.
    /// @param domain What signatures of this batch are for; zero until one is looked at.
    struct Row {
        address payer;
        uint256 flags;
        uint256 modelCost;
        uint256 budgetId;
        uint256 maxSpend;
        uint256 validUntil;
        uint256 signature;
        uint256 tools;
        uint256 toolCount;
        uint256 lines;
        uint256 end;
        bytes32 domain;
    }

    /// @notice The rows end in the middle of a row: `needed` bytes, of which `given` are there.
    error RowsTruncated(uint256 needed, uint256 given);

    /// @notice A row follows one whose payer's address is not lower.
    error RowsOutOfOrder();

    /// @notice A row has flags that mean nothing together.
    error RowFlagsInvalid(uint256 flags);

    /// @notice Reads the row that begins at `offset` into `row`, which holds the row before it or none. Everything up
    /// to `row.end` lies inside the rows. Returns where its lines begin and end, which the caller needs at once.
    function read(
        bytes calldata rows,
        uint256 offset,
        Row memory row
    ) internal pure returns (uint256 lines, uint256 end) {
        // Offsets are sums of a few small numbers.
        unchecked {
            uint256 word = wordAt(rows, offset);
            uint256 lineBytes = uint256(uint8(word >> 32)) * LINE_BYTES;
            // A row that is out of order has no end, so that one branch refuses it and one that is cut short.
            assembly ("memory-safe") {
                let payer := shr(96, word)
                lineBytes := add(lineBytes, shl(64, iszero(gt(payer, mload(row)))))
                mstore(row, payer)
            }
            uint256 flags = uint8(word >> 88);
            row.flags = flags;
            row.modelCost = uint48(word >> 40);
            offset += HEAD_BYTES;
            lines = flags > PREPAID ? _readBudget(rows, offset, row) : offset;
            row.lines = lines;
            end = lines + lineBytes;
            row.end = end;
            if (end > rows.length) _refuse(end, rows.length);
        }
    }

    /// @notice The line that begins at `offset`.
    function line(bytes calldata rows, uint256 offset) internal pure returns (uint256 toolIndex, uint256 amount) {
        uint256 word = wordAt(rows, offset);
        amount = word >> 208;
        toolIndex = uint8(word >> 200);
    }

    /// @notice Number `index` of the tools that a row's budget is good for.
    function tool(bytes calldata rows, Row memory row, uint256 index) internal pure returns (bytes16) {
        unchecked {
            return bytes16(bytes32(wordAt(rows, row.tools + index * TOOL_ID_BYTES)));
        }
    }

    /// @notice Whether `toolId` is among the tools that a row's budget is good for.
    /// @dev Each of 255 lines may have to be compared with each of 255 tools: plain Solidity would use most of what a
    /// transaction may have for that one row.
    function hasTool(bytes calldata rows, Row memory row, bytes16 toolId) internal pure returns (bool found) {
        uint256 bytesOfTools = row.toolCount * TOOL_ID_BYTES;
        uint256 offset = row.tools;
        assembly ("memory-safe") {
            let cursor := add(rows.offset, offset)
            for {
                let last := add(cursor, bytesOfTools)
            } lt(cursor, last) {
                cursor := add(cursor, 16)
            } {
                // An id has the upper half of a word, and what follows it the lower.
                if iszero(shr(128, xor(calldataload(cursor), toolId))) {
                    found := 1
                    break
                }
            }
        }
    }

    /// @dev The 32 bytes from `offset` on. They may reach past the rows, where they are zeros or some other argument:
    /// the caller makes sure that what it uses of them lies inside. Plain Solidity would slice, and check the bounds
    /// of every field again.
    function wordAt(bytes calldata rows, uint256 offset) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(rows.offset, offset))
        }
    }

    function _refuse(uint256 end, uint256 length) private pure {
        uint256 needed = uint64(end);
        if (needed > length) revert RowsTruncated(needed, length);
        revert RowsOutOfOrder();
    }

    /// @dev Reads the budget of a row, and returns where its lines begin.
    function _readBudget(bytes calldata rows, uint256 offset, Row memory row) private pure returns (uint256) {
        unchecked {
            uint256 flags = row.flags;
            if (flags & BUDGET == 0 || flags > (PREPAID | BUDGET | SIGNED | TOOLS)) revert RowFlagsInvalid(flags);
            row.budgetId = wordAt(rows, offset) >> 192;
            offset += BUDGET_ID_BYTES;
            row.toolCount = 0;
            if (flags & TOOLS != 0) {
                row.toolCount = wordAt(rows, offset) >> 248;
                row.tools = offset + 1;
                offset += 1 + row.toolCount * TOOL_ID_BYTES;
            }
            if (flags & SIGNED != 0) {
                uint256 word = wordAt(rows, offset);
                row.maxSpend = word >> 208;
                row.validUntil = uint40(word >> 168);
                row.signature = offset + SIGNED_BYTES;
                offset += SIGNED_BYTES + uint16(word >> 152);
            }
            return offset;
        }
    }
}
