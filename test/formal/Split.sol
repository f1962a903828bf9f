// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RevenueSplit} from "../../contracts/libraries/RevenueSplit.sol";

// Each contract states one invariant of the split, for every amount that there is. Arithmetic here is checked, and the prover
// shows as well that none of it overflows. One invariant per contract keeps the questions small: together they take minutes.

contract NoUnitIsLost {
    function holds(uint256 amount) external pure {
        (uint256 developerShare, uint256 protocolShare) = RevenueSplit.split(amount);
        assert(developerShare + protocolShare == amount);
    }
}

/// @dev Nine times the protocol's share is what 90 % means, without a product that could overflow: as the shares add up
/// to the amount, 10 × developer's share ≥ 9 × amount says the same.
contract DeveloperGetsNineTenths {
    function holds(uint256 amount) external pure {
        (uint256 developerShare, uint256 protocolShare) = RevenueSplit.split(amount);
        assert(developerShare >= 9 * protocolShare);
    }
}

/// @dev The sum of a tool in a batch has 96 bits, and there the same invariant can be written as one would say it.
contract DeveloperGetsNineTenthsOfABatch {
    function holds(uint96 amount) external pure {
        (uint256 developerShare, ) = RevenueSplit.split(amount);
        assert(10 * developerShare >= 9 * uint256(amount));
    }
}

contract RoundingGivesTheDeveloperLessThanOneUnit {
    function holds(uint96 amount) external pure {
        (uint256 developerShare, ) = RevenueSplit.split(amount);
        assert(10 * developerShare < 9 * uint256(amount) + 10);
    }
}

/// @dev Charges are added up before they are split. Splitting each of two alone would give the protocol one unit less
/// at most, and never more.
contract NettingMovesOneUnitAtMost {
    function holds(uint96 first, uint96 second) external pure {
        (, uint256 ofFirst) = RevenueSplit.split(first);
        (, uint256 ofSecond) = RevenueSplit.split(second);
        (, uint256 ofBoth) = RevenueSplit.split(uint256(first) + second);
        assert(ofFirst + ofSecond <= ofBoth);
        assert(ofBoth <= ofFirst + ofSecond + 1);
    }
}
