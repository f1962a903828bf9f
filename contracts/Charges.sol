// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Budgets} from "./Budgets.sol";
import {Limits} from "./Limits.sol";
import {PrepaidBalances} from "./PrepaidBalances.sol";
import {ChargeFailure} from "./interfaces/ChargeFailure.sol";
import {IContextRouter} from "./interfaces/IContextRouter.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";
import {BatchRows} from "./libraries/BatchRows.sol";

/// @title How one payer is charged
/// @notice The part of ContextRouter that takes money: within what the payer has decided and signed, out of the prepaid
/// balance or the allowance, or not at all and with a reason that was verified.
abstract contract Charges is PrepaidBalances, Budgets, Limits {
    using SafeERC20 for IUSDC;

    /// @inheritdoc IContextRouter
    function spendable(address payer) public view returns (Spendable memory result) {
        result.balance = usdc.balanceOf(payer);
        result.allowance = usdc.allowance(payer, address(this));
        (, result.dailyCapLeft) = dailyCap(payer);
        result.prepaid = _prepaidLeft(payer);
        result.consentRequired = _payers[payer].consentRequired;
        if (!paused() && !_tokenUnavailable() && !usdc.isBlacklisted(payer)) {
            result.amount = Math.min(Math.min(result.balance, result.allowance), result.dailyCapLeft);
        }
    }

    /// @inheritdoc IContextRouter
    function spendableMany(address[] calldata payers) external view returns (Spendable[] memory results) {
        results = new Spendable[](payers.length);
        for (uint256 i = 0; i < payers.length; ++i) {
            results[i] = spendable(payers[i]);
        }
    }

    /// @dev Takes `amount` from a row's payer, or says why that failed. Whoever holds an operator's key cannot make
    /// a good row fail, by starving the transfer of gas or otherwise: a failure without a proven reason undoes the
    /// batch.
    function _charge(
        bytes calldata rows,
        BatchRows.Row memory row,
        bytes16[] calldata toolIds,
        uint256 amount
    ) internal returns (ChargeFailure failure) {
        address payer = row.payer;
        Payer storage state = _payers[payer];
        // Side by side, so that the slot that they share is read once.
        bool isCapped = state.hasDailyCap;
        bool needsConsent = state.consentRequired;
        if (isCapped) {
            if (amount > _dailyCapLeft(payer)) return ChargeFailure.DailyCap;
        }
        uint256 flags = row.flags;
        if (flags & BatchRows.BUDGET != 0) {
            failure = _drawOnBudget(rows, row, toolIds, amount);
            if (failure != ChargeFailure.None) return failure;
        } else if (needsConsent) {
            return ChargeFailure.ConsentRequired;
        }
        if (flags & BatchRows.PREPAID != 0) {
            if (!_drawPrepaid(state, amount)) return _undraw(row, amount, ChargeFailure.Prepaid);
        } else if (!usdc.trySafeTransferFrom(payer, address(this), amount)) {
            return _undraw(row, amount, _explain(payer, amount));
        }
        if (isCapped) _spendOfPayer(payer, amount);
    }

    /// @dev Gives a budget back what a row drew on it whose money could not be had for this reason.
    function _undraw(BatchRows.Row memory row, uint256 amount, ChargeFailure failure) private returns (ChargeFailure) {
        if (row.flags & BatchRows.BUDGET != 0) _returnToBudget(row, amount);
        return failure;
    }

    /// @dev Reads why the token refused to take `amount` from `payer`.
    function _explain(address payer, uint256 amount) private view returns (ChargeFailure) {
        if (_tokenUnavailable()) revert TokenUnavailable();
        if (usdc.isBlacklisted(payer)) return ChargeFailure.Blacklisted;
        if (usdc.allowance(payer, address(this)) < amount) return ChargeFailure.Allowance;
        if (usdc.balanceOf(payer) < amount) return ChargeFailure.Balance;
        revert ChargeUnexplained(payer, amount);
    }

    /// @dev Whether the token would refuse every payer alike.
    function _tokenUnavailable() private view returns (bool) {
        return usdc.paused() || usdc.isBlacklisted(address(this));
    }
}
