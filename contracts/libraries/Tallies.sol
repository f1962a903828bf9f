// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What each tool has earned while a batch is being charged
/// @notice A tally is a tool's payee (160 bits) above the tool's sum (96 bits), so that a line costs one read and one
/// write of memory. A tally without a payee refuses every line. The sum cannot reach the payee's bits: that would take
/// 2^48 lines of 48 bits each.
library Tallies {
    uint256 private constant SUM_BITS = 96;

    /// @notice A line names tool number `index` of a batch with `count` tools.
    error ToolIndexOutOfRange(uint256 index, uint256 count);

    /// @notice Opens a tally of zero for each payee; the zero address is no payee.
    function open(address[] memory payees) internal pure returns (uint256[] memory tallies) {
        tallies = new uint256[](payees.length);
        for (uint256 i = 0; i < payees.length; ++i) {
            tallies[i] = uint256(uint160(payees[i])) << SUM_BITS;
        }
    }

    /// @notice Adds `amount` to a tool's sum. Returns `amount`, or zero if the tool has no payee and nothing was added.
    /// @dev The one step that every line of every batch takes. The bounds are checked once, with an error that says
    /// what was wrong; Solidity's own access would check them at the read and again at the write, for as much gas as
    /// the rest of the line together.
    function add(uint256[] memory tallies, uint256 index, uint256 amount) internal pure returns (uint256 added) {
        if (index >= tallies.length) revert ToolIndexOutOfRange(index, tallies.length);
        assembly ("memory-safe") {
            let slot := add(add(tallies, 0x20), shl(5, index))
            let tally := mload(slot)
            // One if there is a payee, else zero.
            added := mul(amount, iszero(iszero(shr(SUM_BITS, tally))))
            mstore(slot, add(tally, added))
        }
    }

    /// @notice Takes an `amount` that was added before out of a tool's sum.
    function subtract(uint256[] memory tallies, uint256 index, uint256 amount) internal pure {
        (address payee, ) = read(tallies, index);
        if (payee != address(0)) tallies[index] -= amount;
    }

    /// @notice A tool's payee and sum.
    function read(uint256[] memory tallies, uint256 index) internal pure returns (address payee, uint256 sum) {
        return (address(uint160(tallies[index] >> SUM_BITS)), uint96(tallies[index]));
    }
}
