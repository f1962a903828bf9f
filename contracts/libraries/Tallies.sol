// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What each tool has earned while a batch is being charged
/// @notice A tally is one word, so that a line costs one read and one write of memory: the tool's payee (160 bits),
/// a mark that one of its lines was refused (8 bits), what the tool may earn in this batch (40 bits) and what is
/// left of that (48 bits). A tool that may not be paid may earn nothing, so that one comparison refuses its lines
/// and those of a tool that has earned enough.
library Tallies {
    uint256 private constant PAYEE_SHIFT = 96;
    uint256 private constant MARK = 1 << 88;
    uint256 private constant ROOM_SHIFT = 48;

    /// @notice A line names tool number `index` of a batch with `count` tools.
    error ToolIndexOutOfRange(uint256 index, uint256 count);

    /// @notice A tally for every number that a line can name its tool by. A number that no tool has, has an empty
    /// tally.
    function create() internal pure returns (uint256[] memory tallies) {
        return new uint256[](256);
    }

    /// @notice The tally of a payee and of what its tool may earn, which has 40 bits.
    function open(address payee, uint256 room) internal pure returns (uint256 tally) {
        return (uint256(uint160(payee)) << PAYEE_SHIFT) | (room << ROOM_SHIFT) | room;
    }

    /// @notice Adds the lines of a row, from `start` to `end` of the rows, to the sums of their tools. Returns the
    /// total of what was added, and a bit for each line that was not, the first line lowest, because it is above
    /// what its tool may earn; the tallies of such tools are marked.
    /// @dev The one loop that every line of every batch goes through. It reads a line with one load, and needs no
    /// check of bounds, because there is a tally for every number of one byte.
    function addLines(
        uint256[] memory tallies,
        bytes calldata rows,
        uint256 start,
        uint256 end
    ) internal pure returns (uint256 total, uint256 refused) {
        // The compiler does not inline what can return early. Inside the loop over the rows this one would have too
        // much on the stack, and cost more.
        if (start == end) return (0, 0);
        assembly ("memory-safe") {
            let first := add(tallies, 0x20)
            let last := add(rows.offset, end)
            for {
                let cursor := add(rows.offset, start)
            } lt(cursor, last) {
                cursor := add(cursor, 7)
            } {
                let amount := calldataload(cursor)
                let slot := add(first, shl(5, byte(6, amount)))
                amount := shr(208, amount)
                let tally := mload(slot)
                if gt(amount, and(tally, 0xffffffffffff)) {
                    refused := or(refused, shl(div(sub(sub(cursor, rows.offset), start), 7), 1))
                    tally := or(tally, MARK)
                    amount := 0
                }
                total := add(total, amount)
                mstore(slot, sub(tally, amount))
            }
        }
    }

    /// @notice Takes an `amount` that was added before out of a tool's sum.
    function subtract(uint256[] memory tallies, uint256 index, uint256 amount) internal pure {
        tallies[index] += amount;
    }

    /// @notice A tool's payee, what it has earned, and whether a line of it was refused.
    function read(uint256 tally) internal pure returns (address payee, uint256 sum, bool refused) {
        // What is left is never more than there was.
        unchecked {
            uint256 earned = uint40(tally >> ROOM_SHIFT) - uint48(tally);
            return (address(uint160(tally >> PAYEE_SHIFT)), earned, tally & MARK != 0);
        }
    }
}
