// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Payers} from "./Payers.sol";
import {IContextRouter} from "./interfaces/IContextRouter.sol";
import {IOperatorBonds} from "./interfaces/IOperatorBonds.sol";
import {RollingLimit, Spending} from "./libraries/RollingLimit.sol";

/// @title What may be moved in any 24 hours: by an operator, from a payer, to a tool
/// @notice The part of ContextRouter that counts. Each count shares a storage slot with the limit that it is held
/// against, as far as that is kept here: a batch reads one slot per operator and tool, and one per payer with a cap.
abstract contract Limits is Payers, IContextRouter {
    /// @dev An operator is an account with a limit above zero. The limit is the role: one read answers both. Whether
    /// its bond is enough for the limit is kept here as well, so that a batch does not have to ask for it.
    struct Operator {
        uint40 limit;
        uint176 spent;
        bool bonded;
    }

    /// @dev A payer's own cap; zero for none.
    struct DailyCap {
        uint40 cap;
        uint176 spent;
    }

    /// @dev What a tool has earned. It is not shortened, because to write a part of a slot the compiler reads it first.
    struct Earnings {
        Spending earned;
    }

    /// @inheritdoc IContextRouter
    uint256 public constant MAX_OPERATOR_LIMIT = 1_000_000e6;

    /// @inheritdoc IContextRouter
    IOperatorBonds public immutable bonds;

    mapping(address operator => Operator) private _operators;
    mapping(address payer => DailyCap) private _dailyCaps;

    /// @dev The limit of a tool follows from its stake, which the registry knows.
    mapping(bytes16 toolId => Earnings) private _earnings;

    constructor(IOperatorBonds bonds_) {
        bonds = bonds_;
    }

    /// @inheritdoc IContextRouter
    function setDailyCap(uint40 cap) external {
        // Whoever means that nothing may be taken would lift the cap with it.
        if (cap == 0) revert ZeroAmount();
        _setDailyCap(cap);
    }

    /// @inheritdoc IContextRouter
    function liftDailyCap() external {
        _setDailyCap(0);
    }

    /// @inheritdoc IContextRouter
    function refreshBond(address operator) external {
        _checkBond(operator, _operators[operator].limit);
    }

    /// @inheritdoc IContextRouter
    function operatorLimit(address operator) external view returns (uint256 limit, uint256 left, bool bonded) {
        Operator memory state = _operators[operator];
        return (state.limit, Spending.wrap(state.spent).left(state.limit), state.bonded);
    }

    /// @inheritdoc IContextRouter
    function dailyCap(address payer) public view returns (uint256 cap, uint256 left) {
        cap = _dailyCaps[payer].cap;
        return (cap, cap == 0 ? type(uint256).max : _dailyCapLeft(payer));
    }

    function _setOperatorLimit(address operator, uint256 limit) internal {
        if (limit > MAX_OPERATOR_LIMIT) revert LimitOutOfBounds(limit, MAX_OPERATOR_LIMIT);
        // Bounded in the line above.
        _operators[operator].limit = uint40(limit);
        emit OperatorLimitSet(operator, limit);
        _checkBond(operator, limit);
    }

    function _checkOperator(address account) internal view {
        Operator storage state = _operators[account];
        // Side by side, so that the slot that they share is read once.
        uint256 limit = state.limit;
        bool bonded = state.bonded;
        if (limit == 0) revert NotOperator(account);
        if (!bonded) revert BondTooLow(account);
    }

    /// @dev Counts what a batch has charged, or reverts if it is too much.
    function _spendOfOperator(address operator, uint256 amount) internal {
        Operator storage state = _operators[operator];
        Spending spent = Spending.wrap(state.spent);
        uint256 left = spent.left(state.limit);
        if (amount > left) revert OperatorLimitExceeded(amount, left);
        state.spent = uint176(Spending.unwrap(spent.plus(amount)));
    }

    /// @dev What is left of the daily cap of a payer who has one.
    function _dailyCapLeft(address payer) internal view returns (uint256) {
        DailyCap storage limit = _dailyCaps[payer];
        return Spending.wrap(limit.spent).left(limit.cap);
    }

    /// @dev Counts what was taken from a payer who has a cap. The caller has compared it with what is left. What is
    /// taken while there is no cap does not count towards a later one, and costs nothing.
    function _spendOfPayer(address payer, uint256 amount) internal {
        DailyCap storage limit = _dailyCaps[payer];
        limit.spent = uint176(Spending.unwrap(Spending.wrap(limit.spent).plus(amount)));
    }

    function _earningsOf(bytes16 toolId) internal view returns (Spending) {
        return _earnings[toolId].earned;
    }

    /// @dev What a tool that has earned so much may still earn of what its stake allows.
    function _earningsLeft(Spending earned, uint256 limit) internal view returns (uint256) {
        return earned.left(limit < RollingLimit.MAX_LIMIT ? limit : RollingLimit.MAX_LIMIT);
    }

    /// @dev Counts what a tool earns, on top of what it had `earned` when the caller compared it with what is left. If
    /// it has earned something since, the caller was wrong: a batch that names a tool twice would give it its limit
    /// twice.
    function _addEarnings(bytes16 toolId, Spending earned, uint256 amount) internal {
        Earnings storage earnings = _earnings[toolId];
        if (Spending.unwrap(earnings.earned) != Spending.unwrap(earned)) revert ToolRepeated(toolId);
        earnings.earned = earned.plus(amount);
    }

    /// @dev Asks whether the bond is enough for the limit, and remembers the answer.
    function _checkBond(address operator, uint256 limit) private {
        bool bonded = bonds.covers(operator, limit);
        if (bonded == _operators[operator].bonded) return;
        _operators[operator].bonded = bonded;
        emit OperatorBonded(operator, bonded);
    }

    function _setDailyCap(uint40 cap) private {
        _dailyCaps[msg.sender].cap = cap;
        _payers[msg.sender].hasDailyCap = cap != 0;
        emit DailyCapSet(msg.sender, cap);
    }
}
