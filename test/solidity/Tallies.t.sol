// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Tallies} from "../../contracts/libraries/Tallies.sol";
import {vm} from "./support/Cheats.sol";
import {Dice} from "./support/Dice.sol";

contract TalliesTest {
    using Tallies for uint256[];

    /// @dev A tool's tally in plain Solidity.
    struct Account {
        address payee;
        uint256 sum;
    }

    function testFuzz_talliesAddUpAsPlainArraysDo(uint256 seed) public pure {
        Dice memory dice = Dice(seed);
        (address[] memory payees, Account[] memory accounts) = _accounts(dice);
        uint256[] memory tallies = Tallies.open(payees);
        for (uint256 step = 0; step < 64; ++step) {
            uint256 index = dice.roll(0, payees.length - 1);
            Account memory account = accounts[index];
            bool payable_ = account.payee != address(0);
            if (dice.chance(70)) {
                uint256 amount = dice.roll(0, type(uint48).max);
                vm.assertEq(tallies.add(index, amount), payable_ ? amount : 0, "what was added");
                if (payable_) account.sum += amount;
            } else {
                uint256 amount = dice.roll(0, account.sum);
                tallies.subtract(index, amount);
                account.sum -= amount;
            }
        }
        for (uint256 i = 0; i < accounts.length; ++i) {
            (address payee, uint256 sum) = tallies.read(i);
            vm.assertEq(payee, accounts[i].payee, "payee");
            vm.assertEq(sum, accounts[i].sum, "sum");
        }
    }

    function testFuzz_addLeavesTheMemoryAroundTheTalliesAlone(uint256 seed) public pure {
        Dice memory dice = Dice(seed);
        uint256 count = dice.roll(1, 8);
        uint256[] memory below = _filled(3, seed);
        uint256[] memory tallies = new uint256[](count);
        uint256[] memory above = _filled(3, seed);
        for (uint256 i = 0; i < count; ++i) tallies[i] = (i + 1) << 96;

        uint256 index = dice.roll(0, count - 1);
        uint256 amount = dice.roll(0, type(uint48).max);
        uint256 freeMemory = _freeMemory();
        tallies.add(index, amount);

        vm.assertEq(_freeMemory(), freeMemory, "nothing was allocated");
        vm.assertEq(tallies.length, count, "the length");
        for (uint256 i = 0; i < count; ++i) {
            vm.assertEq(tallies[i], ((i + 1) << 96) + (i == index ? amount : 0), "only the named tally changed");
        }
        vm.assertEq(below.length + above.length, 6, "the neighbours' lengths");
        for (uint256 i = 0; i < 3; ++i) {
            vm.assertEq(below[i], seed, "the memory below");
            vm.assertEq(above[i], seed, "the memory above");
        }
    }

    function testFuzz_anIndexOutOfRangeReverts(uint8 count, uint256 index, uint48 amount) public {
        if (index < count) index += count;
        vm.expectRevert(abi.encodeWithSelector(Tallies.ToolIndexOutOfRange.selector, index, count));
        this.addTo(count, index, amount);
    }

    function addTo(uint256 count, uint256 index, uint256 amount) external pure returns (uint256) {
        return new uint256[](count).add(index, amount);
    }

    function _accounts(Dice memory dice) private pure returns (address[] memory payees, Account[] memory accounts) {
        payees = new address[](dice.roll(1, 8));
        accounts = new Account[](payees.length);
        for (uint256 i = 0; i < payees.length; ++i) {
            // A payee of all ones leaves no bit for the sum to overflow into unseen.
            if (dice.chance(70))
                payees[i] = dice.chance(20) ? address(type(uint160).max) : address(uint160(dice.state));
            accounts[i].payee = payees[i];
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
