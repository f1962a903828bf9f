// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Slashing} from "./Slashing.sol";
import {IPenalties} from "./court/interfaces/IPenalties.sol";
import {RollingLimit, Spending} from "./libraries/RollingLimit.sol";

/// @title How a court takes a penalty
/// @notice The part of ToolStaking that believes a proof. A court has no discretion and so needs no delay; what it
/// can take is bounded instead, by one penalty and from one tool in any 24 hours. What a call cost is no penalty, and
/// is given back whatever it was, within the bound of the day.
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
        uint256 max = penaltyLeft(toolId);
        if (amount > max) revert PenaltyOutOfBounds(amount, max);
        taken = _takePenalty(toolId, amount);
        _credit(beneficiary, share);
        _creditBeneficiary(taken - share);
        emit Penalized(toolId, msg.sender, beneficiary, taken, share);
    }

    /// @inheritdoc IPenalties
    function compensate(
        bytes16 toolId,
        uint256 amount,
        address payer
    ) external restricted inPerson returns (uint256 taken) {
        // The insurance account gets back what it paid in a payer's place, and earns nothing by it.
        if (payer == _beneficiary) _checkNoJudge(payer);
        else _checkRecipient(payer);
        taken = _takePenalty(toolId, Math.min(amount, _leftOfTheDay(toolId)));
        _credit(payer, taken);
        emit Compensated(toolId, msg.sender, payer, taken);
    }

    /// @inheritdoc IPenalties
    function penaltyLeft(bytes16 toolId) public view returns (uint256) {
        return Math.min(_maxPenalty(), _leftOfTheDay(toolId));
    }

    /// @dev What can still be taken from a tool in these 24 hours.
    function _leftOfTheDay(bytes16 toolId) private view returns (uint256) {
        // What a proposed slash asks for is kept for it: nobody can convict a tool of their own to get it out before.
        uint256 reach = _slashable(toolId, block.timestamp) - _claimedBySlash(toolId);
        // Rounded down, in favour of the tool.
        uint256 limit = Math.min((reach * _dailyPenaltyBps()) / 10_000, RollingLimit.MAX_LIMIT);
        return _penalties[toolId].left(limit);
    }

    /// @dev Takes what is no more than what is left. The limit is less than what can be reached, so that all of it is
    /// there.
    function _takePenalty(bytes16 toolId, uint256 amount) private returns (uint256 taken) {
        _penalties[toolId] = _penalties[toolId].plus(amount);
        return _takeStake(toolId, amount);
    }

    /// @dev The most of one penalty.
    function _maxPenalty() internal view virtual returns (uint256);

    /// @dev The most of what can be reached that one tool loses in any 24 hours.
    function _dailyPenaltyBps() internal view virtual returns (uint256);
}
