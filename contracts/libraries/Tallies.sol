// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Spending} from "./RollingLimit.sol";

/// @dev Where in memory a batch's tallies are: 256 words, one for every number that a line can name its tool by. A word
/// for each tool of the batch follows, with what it had earned before.
type TallySheet is uint256;

using Tallies for TallySheet global;

/// @title What each tool has earned while a batch is being charged
/// @notice A tally is one word, so that a line costs one read and one write of memory: what is left of what the tool
/// may earn in this batch (48 bits), its payee (160 bits), a mark that one of its lines was refused (8 bits) and what
/// it may earn in all (40 bits). A tool that may not be paid may earn nothing, so that one comparison refuses its
/// lines and those of a tool that has earned enough. What is left stands where a line has its amount, in the highest
/// bits: so the two are compared, and one is taken from the other, as whole words.
library Tallies {
    uint256 private constant LEFT_SHIFT = 208;
    uint256 private constant PAYEE_SHIFT = 48;
    uint256 private constant MARK = 1 << 40;

    /// @dev A line names its tool with one byte.
    uint256 private constant MAX_TOOLS = 256;

    /// @notice A batch has more tools than a line can name.
    error TooManyTools(uint256 count, uint256 max);

    /// @notice A line names tool number `index` of a batch with `count` tools.
    error ToolIndexOutOfRange(uint256 index, uint256 count);

    /// @notice A sheet for a batch of `count` tools. A number that no tool has, has an empty tally.
    function create(uint256 count) internal pure returns (TallySheet sheet) {
        if (count > MAX_TOOLS) revert TooManyTools(count, MAX_TOOLS);
        uint256[] memory words = new uint256[](MAX_TOOLS + count);
        assembly ("memory-safe") {
            sheet := add(words, 0x20)
        }
    }

    /// @notice Opens the tally of tool number `index`, which is less than the count that the sheet was made for: its
    /// payee, what it had earned before, and what it may still earn, which has 40 bits.
    function open(TallySheet sheet, uint256 index, address payee, Spending earned, uint256 room) internal pure {
        _write(sheet, index, (room << LEFT_SHIFT) | (uint256(uint160(payee)) << PAYEE_SHIFT) | room);
        unchecked {
            _write(sheet, MAX_TOOLS + index, Spending.unwrap(earned));
        }
    }

    /// @notice Adds the lines of a row, from `start` to `end` of the rows, to the sums of their tools. Returns the
    /// total of what was added, and a bit for each line that was not, the first line lowest, because it is above
    /// what its tool may earn; the tallies of such tools are marked.
    /// @dev The one loop that every line of every batch goes through. It reads a line with one load, and needs no
    /// check of bounds, because there is a tally for every number of one byte.
    function addLines(
        TallySheet sheet,
        bytes calldata rows,
        uint256 start,
        uint256 end
    ) internal pure returns (uint256 total, uint256 refused) {
        // The compiler does not inline what can return early. Inside the loop over the rows this one would have too
        // much on the stack, and cost more.
        if (start == end) return (0, 0);
        assembly ("memory-safe") {
            let first := add(rows.offset, start)
            let last := add(rows.offset, end)
            for {
                let cursor := first
            } lt(cursor, last) {
                cursor := add(cursor, 7)
            } {
                let amount := calldataload(cursor)
                // Its seventh byte is the tool's number, and a tally has 32.
                let slot := add(sheet, and(shr(195, amount), 0x1fe0))
                amount := and(amount, not(0xffffffffffffffffffffffffffffffffffffffffffffffffffff))
                let tally := mload(slot)
                if gt(amount, tally) {
                    refused := or(refused, shl(div(sub(cursor, first), 7), 1))
                    mstore(slot, or(tally, MARK))
                    continue
                }
                // No tally has more than 40 bits left and no row more than 255 lines, so that the sum keeps to its 48.
                total := add(total, amount)
                mstore(slot, sub(tally, amount))
            }
            total := shr(LEFT_SHIFT, total)
        }
    }

    /// @notice Takes an `amount` that was added before out of a tool's sum.
    function subtract(TallySheet sheet, uint256 index, uint256 amount) internal pure {
        // There is a tally for every number of one byte.
        _write(sheet, uint8(index), _read(sheet, uint8(index)) + (amount << LEFT_SHIFT));
    }

    /// @notice A tool's payee, what it has earned, and whether a line of it was refused. Its number is less than the
    /// count that the sheet was made for.
    function read(TallySheet sheet, uint256 index) internal pure returns (address payee, uint256 sum, bool refused) {
        uint256 tally = _read(sheet, index);
        // What is left is never more than there was.
        unchecked {
            return (address(uint160(tally >> PAYEE_SHIFT)), uint40(tally) - (tally >> LEFT_SHIFT), tally & MARK != 0);
        }
    }

    /// @notice What a tool had earned before, as it was opened.
    function earnedBefore(TallySheet sheet, uint256 index) internal pure returns (Spending) {
        unchecked {
            return Spending.wrap(_read(sheet, MAX_TOOLS + index));
        }
    }

    function _read(TallySheet sheet, uint256 index) private pure returns (uint256 tally) {
        assembly ("memory-safe") {
            tally := mload(add(sheet, shl(5, index)))
        }
    }

    function _write(TallySheet sheet, uint256 index, uint256 tally) private pure {
        assembly ("memory-safe") {
            mstore(add(sheet, shl(5, index)), tally)
        }
    }
}
