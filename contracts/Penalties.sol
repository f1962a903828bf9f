// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Slashing} from "./Slashing.sol";
import {IPenalties} from "./court/interfaces/IPenalties.sol";
import {RollingLimit, Spending} from "./libraries/RollingLimit.sol";

/// @title How a court takes a penalty
/// @notice The part of ToolStaking that believes a proof. A court has no discretion and so needs no delay; what it
/// can take is bounded instead, by one penalty and from one tool in any 24 hours.
abstract contract Penalties is IPenalties, Slashing {
    mapping(bytes16 toolId => Spending) private _penalties;

    /// @inheritdoc IPenalties
    function penalize(
        bytes16 toolId,
        uint256 amount,
        address beneficiary,
        uint256 share
    ) external restricted inPerson returns (uint256 taken) {
        _checkRecipient(beneficiary);
        _checkNoJudge(_beneficiary);
        if (share > amount) revert PenaltyOutOfBounds(share, amount);
        Spending penalties = _penalties[toolId];
        (uint256 maxPenalty, uint256 dailyBps) = _penaltyBounds();
        // What a proposed slash asks for is kept for it: nobody can convict a tool of their own to get it out before.
        uint256 reach = _slashable(toolId, block.timestamp) - _claimedBySlash(toolId);
        // Rounded down, in favour of the tool.
        uint256 limit = Math.min((reach * dailyBps) / 10_000, RollingLimit.MAX_LIMIT);
        uint256 max = Math.min(maxPenalty, penalties.left(limit));
        if (amount > max) revert PenaltyOutOfBounds(amount, max);
        _penalties[toolId] = penalties.plus(amount);

        // The limit above is less than what can be reached, so that all of the amount is there.
        taken = _takeStake(toolId, amount);
        _credit(beneficiary, share);
        _creditBeneficiary(taken - share);
        emit Penalized(toolId, msg.sender, beneficiary, taken, share);
    }

    /// @dev The most of one penalty, and the most of what can be reached that one tool loses in any 24 hours.
    function _penaltyBounds() internal view virtual returns (uint256 maxPenalty, uint256 dailyBps);
}
