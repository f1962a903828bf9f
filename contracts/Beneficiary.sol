// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IBeneficiary} from "./interfaces/IBeneficiary.sol";

/// @title Who gets what is nobody else's
/// @notice What ContextRouter and ToolStaking share: the treasury of the one and the insurance account of the other
/// can be replaced, and only by an account that has shown that it can act. Who may propose it is theirs to say.
abstract contract Beneficiary is IBeneficiary {
    /// @dev These two share a slot with each other, and with a small value that stands right before them: a batch reads
    /// the router's pause and credits its treasury, and pays for one slot instead of three. 88 bits hold more than
    /// there can be of the token.
    address internal _beneficiary;
    uint88 internal _beneficiaryCredit;

    /// @inheritdoc IBeneficiary
    address public pendingBeneficiary;

    /// @param account Who gets it at first.
    constructor(address account) {
        if (account == address(0)) revert InvalidBeneficiary(account);
        _beneficiary = account;
    }

    /// @inheritdoc IBeneficiary
    function acceptBeneficiary() external {
        if (msg.sender != pendingBeneficiary) revert NotPendingBeneficiary(msg.sender, pendingBeneficiary);
        _creditBefore(_beneficiary);
        emit BeneficiaryChanged(_beneficiary, msg.sender);
        _beneficiary = msg.sender;
        pendingBeneficiary = address(0);
    }

    /// @dev Leaves what is credited to the beneficiary to the account that was it until now.
    function _creditBefore(address previous) internal virtual;

    function _proposeBeneficiary(address account) internal {
        pendingBeneficiary = account;
        emit BeneficiaryProposed(_beneficiary, account);
    }
}
