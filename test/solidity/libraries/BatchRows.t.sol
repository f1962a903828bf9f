// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BatchRows} from "../../../contracts/libraries/BatchRows.sol";
import {vm} from "../support/Cheats.sol";
import {Rng} from "../support/Rng.sol";

contract BatchRowsTest {
    uint256 private constant HEAD_BYTES = 28;
    uint256 private constant LINE_BYTES = 7;

    function testFuzz_aRowReadsAsItsSlicesDo(
        bytes calldata rows,
        uint256 offset,
        bytes calldata neighbour
    ) public view {
        if (rows.length < HEAD_BYTES) return;
        this.compareRow(rows, offset % (rows.length - HEAD_BYTES + 1), neighbour);
    }

    /// @dev Random bytes are hardly ever a whole row with a budget.
    function testFuzz_aWholeRowReadsAsItsSlicesDo(
        uint256 seed,
        bytes calldata before,
        bytes calldata noise,
        bytes calldata neighbour
    ) public view {
        Rng memory rng = Rng(seed);
        uint256 flags = rng.between(0, 15);
        uint256 lines = rng.between(0, 3);
        bytes memory row = abi.encodePacked(bytes20(uint160(seed)), uint8(flags), uint48(seed >> 8), uint8(lines));
        if (flags & 2 != 0) row = bytes.concat(row, bytes8(uint64(seed >> 16)));
        if (flags & 8 != 0)
            row = bytes.concat(row, bytes1(uint8(2)), bytes16(uint128(seed >> 32)), bytes16(uint128(seed)));
        if (flags & 4 != 0) {
            row = abi.encodePacked(row, uint48(seed >> 24), uint40(seed >> 40), uint16(noise.length), noise);
        }
        row = bytes.concat(row, new bytes(lines * LINE_BYTES));
        this.compareRow(bytes.concat(before, row), before.length, neighbour);
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
        bytes6 amount,
        bytes1 toolIndex,
        bytes calldata before,
        bytes calldata neighbour
    ) public view {
        this.compareLine(bytes.concat(before, amount, toolIndex), before.length, neighbour);
    }

    /// @dev The last argument follows the rows in the calldata, where a read past their end would find it.
    function compareRow(bytes calldata rows, uint256 offset, bytes calldata) external view {
        uint256 flags = uint8(rows[offset + 20]);
        if (flags > 15 || (flags > 1 && flags & 2 == 0))
            return _expect(rows, offset, BatchRows.RowFlagsInvalid.selector);
        (uint256 tools, uint256 signed, uint256 lines) = _layout(rows, offset, flags);
        uint256 end = lines + LINE_BYTES * uint8(rows[offset + 27]);
        if (end > rows.length) return _expect(rows, offset, BatchRows.RowsTruncated.selector);
        address payer = address(bytes20(rows[offset:offset + 20]));
        if (payer == address(0)) return _expect(rows, offset, BatchRows.RowsOutOfOrder.selector);

        BatchRows.Row memory row = this.read(rows, offset);
        vm.assertEq(row.payer, payer, "payer");
        vm.assertEq(row.flags, flags, "flags");
        vm.assertEq(row.modelCost, uint48(bytes6(rows[offset + 21:offset + 27])), "model cost");
        vm.assertEq(row.lines, lines, "where the lines begin");
        vm.assertEq(row.end, end, "where the row ends");
        if (flags & 2 != 0) vm.assertEq(row.budgetId, uint64(bytes8(rows[offset + 28:offset + 36])), "budget");
        vm.assertEq(row.toolCount, flags & 8 == 0 ? 0 : uint8(rows[tools]), "number of tools");
        for (uint256 i = 0; i < row.toolCount; ++i) {
            bytes16 tool = bytes16(rows[tools + 1 + 16 * i:tools + 17 + 16 * i]);
            vm.assertTrue(BatchRows.tool(rows, row, i) == tool, "tool");
            vm.assertTrue(BatchRows.hasTool(rows, row, tool), "a tool of the list");
        }
        if (flags & 4 == 0) return;
        vm.assertEq(row.maxSpend, uint48(bytes6(rows[signed:signed + 6])), "most to be spent");
        vm.assertEq(row.validUntil, uint40(bytes5(rows[signed + 6:signed + 11])), "valid until");
        vm.assertEq(row.signature, signed + 13, "where the signature begins");
    }

    function read(bytes calldata rows, uint256 offset) external pure returns (BatchRows.Row memory row) {
        BatchRows.read(rows, offset, row);
    }

    function compareLine(bytes calldata rows, uint256 offset, bytes calldata) external pure {
        (uint256 toolIndex, uint256 amount) = BatchRows.line(rows, offset);
        vm.assertEq(amount, uint48(bytes6(rows[offset:offset + 6])), "amount");
        vm.assertEq(toolIndex, uint8(rows[offset + 6]), "tool index");
    }

    /// @dev Where the parts of a row begin. Bytes beyond the end count as the largest, so that whatever follows is too.
    function _layout(
        bytes calldata rows,
        uint256 offset,
        uint256 flags
    ) private pure returns (uint256 tools, uint256 signed, uint256 lines) {
        tools = offset + HEAD_BYTES + (flags & 2 == 0 ? 0 : 8);
        signed = tools;
        if (flags & 8 != 0) signed += 1 + (tools < rows.length ? 16 * uint256(uint8(rows[tools])) : 1 << 20);
        lines = signed;
        if (flags & 4 == 0) return (tools, signed, lines);
        lines += 13;
        lines += lines <= rows.length ? uint16(bytes2(rows[lines - 2:lines])) : 1 << 20;
    }

    function _expect(bytes calldata rows, uint256 offset, bytes4 expected) private view {
        try this.read(rows, offset) {
            vm.assertTrue(false, "it must not be read");
        } catch (bytes memory reason) {
            vm.assertTrue(bytes4(reason) == expected, "the reason");
        }
    }
}
