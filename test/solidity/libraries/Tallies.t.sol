// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Spending} from "../../../contracts/libraries/RollingLimit.sol";
import {Tallies, TallySheet} from "../../../contracts/libraries/Tallies.sol";
import {vm} from "../support/Cheats.sol";
import {Rng} from "../support/Rng.sol";

contract TalliesTest {
    /// @dev A tool's tally in plain Solidity.
    struct Account {
        address payee;
        uint256 room;
        uint256 sum;
        bool refused;
        uint256 earnedBefore;
    }

    uint256 private constant TOOLS = 8;

    function testFuzz_talliesAddUpAsPlainArraysDo(uint256 seed, bytes calldata neighbour) public view {
        Rng memory rng = Rng(seed);
        bytes memory rows = new bytes(7 * rng.between(0, 40));
        for (uint256 i = 0; i < rows.length; ++i) rows[i] = bytes1(uint8(rng.between(0, 255)));
        // Mostly tools that there are, and small amounts, so that much is added before a tool has earned enough.
        for (uint256 i = 0; i < rows.length; i += 7) {
            if (rng.happens(80)) rows[i] = 0;
            if (rng.happens(90)) rows[i + 6] = bytes1(uint8(rng.between(0, TOOLS - 1)));
        }
        uint256 start = 7 * rng.between(0, rows.length / 7);
        this.compareLines(seed, rows, start, rows.length, neighbour);
    }

    function testFuzz_whatIsTakenOutAgainCanBeEarnedByOthers(uint40 room, uint48 amount) public view {
        uint48 part = uint48(amount % (uint256(room) + 1));
        this.addAndTakeOut(room, abi.encodePacked(part, uint8(3)), abi.encodePacked(uint48(room), uint8(3)));
    }

    function testFuzz_aSheetForMoreToolsThanALineCanNameIsRefused(uint256 count) public view {
        if (count > 256) {
            bytes memory reason = abi.encodeWithSelector(Tallies.TooManyTools.selector, count, 256);
            (bool ok, bytes memory answer) = address(this).staticcall(abi.encodeCall(this.create, (count)));
            vm.assertTrue(!ok && keccak256(answer) == keccak256(reason), "refused, and why");
        }
        this.create(count % 257);
    }

    function create(uint256 count) external pure {
        Tallies.create(count);
    }

    function addAndTakeOut(uint256 room, bytes calldata part, bytes calldata all) external pure {
        TallySheet tallies = Tallies.create(TOOLS);
        tallies.open(3, address(1), Spending.wrap(0), room);
        (uint256 total, uint256 refused) = tallies.addLines(part, 0, 7);
        tallies.subtract(3, total);
        (total, refused) = tallies.addLines(all, 0, 7);
        vm.assertEq(total, room, "as if nothing had been added");
        vm.assertEq(refused, 0, "all of it");
    }

    /// @dev The last argument follows the rows in the calldata, where a read past their end would find it.
    function compareLines(uint256 seed, bytes calldata rows, uint256 start, uint256 end, bytes calldata) external pure {
        Rng memory rng = Rng(seed);
        Account[] memory accounts = new Account[](256);
        uint256[] memory below = _filled(3, seed);
        TallySheet tallies = Tallies.create(TOOLS);
        uint256[] memory above = _filled(3, seed);
        for (uint256 i = 0; i < TOOLS; ++i) {
            if (rng.happens(20)) continue;
            // A payee of all ones leaves no bit for a sum to overflow into unseen.
            accounts[i].payee =
                rng.happens(20) ? address(type(uint160).max) : address(uint160(rng.between(1, seed | 1)));
            accounts[i].room = rng.between(0, type(uint40).max);
            tallies.open(i, accounts[i].payee, Spending.wrap(seed ^ i), accounts[i].room);
            accounts[i].earnedBefore = seed ^ i;
        }
        uint256 freeMemory = _freeMemory();
        (uint256 total, uint256 refused) = tallies.addLines(rows, start, end);
        vm.assertEq(_freeMemory(), freeMemory, "nothing was allocated");

        for (uint256 offset = start; offset < end; offset += 7) {
            Account memory account = accounts[uint8(rows[offset + 6])];
            uint256 amount = uint48(bytes6(rows[offset:offset + 6]));
            bool fits = account.sum + amount <= account.room;
            vm.assertEq(refused & 1, fits ? 0 : 1, "whether the line was refused");
            refused >>= 1;
            if (!fits) account.refused = true;
            else {
                account.sum += amount;
                total -= amount;
            }
        }
        vm.assertEq(total, 0, "the total of what was added");
        vm.assertEq(refused, 0, "no line beyond the last was refused");
        for (uint256 i = 0; i < accounts.length; ++i) {
            (address payee, uint256 sum, bool isRefused) = tallies.read(i);
            vm.assertEq(payee, accounts[i].payee, "payee");
            vm.assertEq(sum, accounts[i].sum, "sum");
            vm.assertEq(isRefused ? 1 : 0, accounts[i].refused ? 1 : 0, "the mark");
        }
        for (uint256 i = 0; i < TOOLS; ++i) {
            uint256 earnedBefore = Spending.unwrap(tallies.earnedBefore(i));
            vm.assertEq(earnedBefore, accounts[i].earnedBefore, "what it had earned before");
        }
        vm.assertEq(below.length + above.length, 6, "the neighbours' lengths");
        for (uint256 i = 0; i < 3; ++i) {
            vm.assertEq(below[i], seed, "the memory below");
            vm.assertEq(above[i], seed, "the memory above");
        }
    }

    function _filled(uint256 count, uint256 value) private pure returns (uint256[] memory words) {
        words = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) words[i] = value;
    }

    function _freeMemory() private pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
        }
    }
}
