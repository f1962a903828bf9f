// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Beneficiary} from "./Beneficiary.sol";
import {Credits} from "./Credits.sol";
import {ICredits} from "./interfaces/ICredits.sol";

/// @title Credits of which one account has a place of its own
/// @notice What ContextRouter and ToolStaking share: the beneficiary is credited by most of what happens, so its credit
/// lies beside its address.
abstract contract BeneficiaryCredits is Beneficiary, Credits {
    /// @inheritdoc ICredits
    function creditOf(address account) public view override returns (uint256 amount) {
        amount = super.creditOf(account);
        if (account == _beneficiary) amount += _beneficiaryCredit;
    }

    function _creditBeneficiary(uint256 amount) internal {
        // Whatever is credited was paid in the token.
        _beneficiaryCredit += uint88(amount);
    }

    function _creditBefore(address previous) internal override {
        _credit(previous, _beneficiaryCredit);
        _beneficiaryCredit = 0;
    }

    function _takeCredit(address account) internal override returns (uint256 amount) {
        amount = super._takeCredit(account);
        if (account != _beneficiary) return amount;
        amount += _beneficiaryCredit;
        _beneficiaryCredit = 0;
    }
}
