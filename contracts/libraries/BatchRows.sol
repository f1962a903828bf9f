// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The packed rows of a batch
/// @notice Reads what `IContextRouter` describes. Rows are packed because a batch is paid for by the byte and the ABI
/// would pad every 6-byte amount to 32.
library BatchRows {
    /// @dev Payer (20), model cost (6), number of lines (1).
    uint256 internal constant HEAD_BYTES = 27;

    /// @dev Tool index (1), amount (6).
    uint256 internal constant LINE_BYTES = 7;

    /// @notice The head of the row that begins at `offset`.
    function head(
        bytes calldata rows,
        uint256 offset
    ) internal pure returns (address payer, uint256 modelCost, uint256 lineCount) {
        uint256 word = _wordAt(rows, offset);
        payer = address(uint160(word >> 96));
        modelCost = uint48(word >> 48);
        lineCount = uint8(word >> 40);
    }

    /// @notice The line that begins at `offset`.
    function line(bytes calldata rows, uint256 offset) internal pure returns (uint256 toolIndex, uint256 amount) {
        uint256 word = _wordAt(rows, offset);
        toolIndex = word >> 248;
        amount = uint48(word >> 200);
    }

    /// @dev The 32 bytes from `offset` on. They may reach past the rows, where they are zeros or some other argument:
    /// the caller makes sure that what it uses of them lies inside. Plain Solidity would slice, and check the bounds of
    /// every field anew.
    function _wordAt(bytes calldata rows, uint256 offset) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(rows.offset, offset))
        }
    }
}
