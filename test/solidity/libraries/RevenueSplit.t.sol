// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RevenueSplit} from "../../../contracts/libraries/RevenueSplit.sol";
import {vm} from "../support/Cheats.sol";

contract RevenueSplitTest {
    function testFuzz_noUnitIsLost(uint256 amount) public pure {
        (uint256 developerShare, uint256 protocolShare) = RevenueSplit.split(amount);
        vm.assertEq(developerShare + protocolShare, amount, "the shares are the amount");
    }

    function testFuzz_theDeveloperGetsAtLeastNinetyPercent(uint128 amount) public pure {
        (uint256 developerShare, ) = RevenueSplit.split(amount);
        vm.assertGe(developerShare * 10, uint256(amount) * 9, "at least 90 %");
    }

    function testFuzz_roundingFavoursTheDeveloperByLessThanOneUnit(uint128 amount) public pure {
        (uint256 developerShare, uint256 protocolShare) = RevenueSplit.split(amount);
        // Ninety percent, rounded up: one unit less would be below the developer's due.
        vm.assertEq(developerShare, (uint256(amount) * 9 + 9) / 10, "90 %, rounded up");
        vm.assertEq(protocolShare, uint256(amount) / 10, "10 %, rounded down");
    }

    function testFuzz_nettingLinesNeverCostsTheProtocolAUnit(uint64[8] memory amounts) public pure {
        uint256 total;
        uint256 lineByLine;
        for (uint256 i = 0; i < amounts.length; ++i) {
            (, uint256 share) = RevenueSplit.split(amounts[i]);
            total += amounts[i];
            lineByLine += share;
        }
        (, uint256 netted) = RevenueSplit.split(total);
        vm.assertGe(netted, lineByLine, "rounding happens once instead of once per line");
    }
}
