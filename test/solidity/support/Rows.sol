// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

struct Line {
    uint8 toolIndex;
    uint48 amount;
}

struct Row {
    address payer;
    uint8 flags;
    uint48 modelCost;
    Line[] lines;
}

/// @title Rows as a batch packs them
library Rows {
    function encode(Row[] memory rows) internal pure returns (bytes memory packed) {
        for (uint256 i = 0; i < rows.length; ++i) {
            Row memory row = rows[i];
            packed = abi.encodePacked(packed, row.payer, row.flags, row.modelCost, uint8(row.lines.length));
            for (uint256 j = 0; j < row.lines.length; ++j) {
                packed = abi.encodePacked(packed, row.lines[j].amount, row.lines[j].toolIndex);
            }
        }
    }
}
