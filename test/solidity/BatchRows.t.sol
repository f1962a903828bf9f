// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BatchRows} from "../../contracts/libraries/BatchRows.sol";
import {vm} from "./support/Cheats.sol";

contract BatchRowsTest {
    uint256 private constant HEAD_BYTES = 27;
    uint256 private constant LINE_BYTES = 7;

    function testFuzz_aHeadReadsAsItsSlicesDo(
        bytes calldata rows,
        uint256 offset,
        bytes calldata neighbour
    ) public view {
        if (rows.length < HEAD_BYTES) return;
        offset %= rows.length - HEAD_BYTES + 1;
        this.compareHead(rows, offset, neighbour);
    }

    function testFuzz_theLastBytesOfTheRowsCanBeAHead(
        bytes20 payer,
        bytes6 modelCost,
        bytes1 lineCount,
        bytes calldata before,
        bytes calldata neighbour
    ) public view {
        bytes memory rows = bytes.concat(before, payer, modelCost, lineCount);
        this.compareHead(rows, before.length, neighbour);
    }

    function testFuzz_aLineReadsAsItsSlicesDo(
        bytes calldata rows,
        uint256 offset,
        bytes calldata neighbour
    ) public view {
        if (rows.length < LINE_BYTES) return;
        offset %= rows.length - LINE_BYTES + 1;
        this.compareLine(rows, offset, neighbour);
    }

    function testFuzz_theLastBytesOfTheRowsCanBeALine(
        bytes1 toolIndex,
        bytes6 amount,
        bytes calldata before,
        bytes calldata neighbour
    ) public view {
        this.compareLine(bytes.concat(before, toolIndex, amount), before.length, neighbour);
    }

    /// @dev The last argument follows the rows in the calldata, where a read past their end would find it.
    function compareHead(bytes calldata rows, uint256 offset, bytes calldata) external pure {
        (address payer, uint256 modelCost, uint256 lineCount) = BatchRows.head(rows, offset);
        vm.assertEq(payer, address(bytes20(rows[offset:offset + 20])), "payer");
        vm.assertEq(modelCost, uint48(bytes6(rows[offset + 20:offset + 26])), "model cost");
        vm.assertEq(lineCount, uint8(rows[offset + 26]), "number of lines");
    }

    function compareLine(bytes calldata rows, uint256 offset, bytes calldata) external pure {
        (uint256 toolIndex, uint256 amount) = BatchRows.line(rows, offset);
        vm.assertEq(toolIndex, uint8(rows[offset]), "tool index");
        vm.assertEq(amount, uint48(bytes6(rows[offset + 1:offset + 7])), "amount");
    }
}
