// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SlashSplit} from "../../contracts/libraries/SlashSplit.sol";

// What becomes of what a slash takes. No stake has more than 64 bits, and the refunds are never more than what was taken.

contract NoUnitOfASlashIsLost {
    function holds(uint64 slashed, uint64 refunded, uint64 promised) external pure {
        require(refunded <= slashed);
        (uint256 bounty, uint256 remainder) = SlashSplit.split(slashed, refunded, promised);
        assert(refunded + bounty + remainder == slashed);
    }
}

contract RefundsComeBeforeTheBounty {
    function holds(uint64 slashed, uint64 refunded, uint64 promised) external pure {
        require(refunded <= slashed);
        (uint256 bounty, ) = SlashSplit.split(slashed, refunded, promised);
        assert(bounty <= slashed - refunded);
    }
}

/// @dev A payer is never refunded more than was proposed for it.
contract RefundIsNeverMoreThanProposed {
    function holds(uint64 amount, uint64 proposed, uint64 slashed) external pure {
        require(amount <= proposed);
        assert(SlashSplit.refund(amount, proposed, slashed) <= amount);
    }
}
