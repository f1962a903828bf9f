// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {BeneficiaryCredits} from "./BeneficiaryCredits.sol";
import {Payers} from "./Payers.sol";
import {IPrepaid} from "./interfaces/IPrepaid.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";

/// @title Prepaid balances
/// @notice See IPrepaid.
/// @dev The beneficiary stands right behind Pausable, so that the treasury lies in the slot of the pause.
abstract contract PrepaidBalances is Payers, Pausable, BeneficiaryCredits, IPrepaid {
    using SafeCast for uint256;
    using SafeERC20 for IUSDC;

    /// @inheritdoc IPrepaid
    uint256 public constant REFUND_DELAY = 2 days;

    /// @inheritdoc IPrepaid
    function deposit(uint256 amount) external nonReentrant whenNotPaused {
        _deposit(amount);
    }

    /// @inheritdoc IPrepaid
    function depositWithPermit(
        uint256 amount,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external nonReentrant whenNotPaused {
        // Whoever sees the signature can use it first. Then the allowance is there, and the deposit goes on; if it is
        // not, the transfer says so.
        // solhint-disable-next-line no-empty-blocks
        try usdc.permit(msg.sender, address(this), amount, deadline, v, r, s) {} catch {}
        _deposit(amount);
    }

    /// @inheritdoc IPrepaid
    function depositWithAuthorization(
        address payer,
        uint256 amount,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external nonReentrant whenNotPaused {
        _addPrepaid(payer, amount);
        usdc.receiveWithAuthorization(payer, address(this), amount, validAfter, validBefore, nonce, signature);
    }

    /// @inheritdoc IPrepaid
    function requestRefund(uint256 amount) external {
        Payer storage payer = _payers[msg.sender];
        if (amount > payer.balance) revert RefundExceedsBalance(amount, payer.balance);
        uint256 readyAt = amount == 0 ? 0 : block.timestamp + REFUND_DELAY;
        payer.refunding = amount.toUint48();
        payer.readyAt = readyAt.toUint40();
        emit RefundRequested(msg.sender, amount, readyAt);
    }

    /// @inheritdoc IPrepaid
    function refund(address to) external nonReentrant returns (uint256 amount) {
        // The token would accept this contract as a recipient, and the money would belong to nobody.
        if (to == address(this)) revert InvalidRecipient(to);
        Payer storage payer = _payers[msg.sender];
        uint256 readyAt = payer.readyAt;
        if (readyAt == 0) revert NoRefund(msg.sender);
        if (block.timestamp < readyAt) revert RefundNotReady(block.timestamp, readyAt);
        // What a settled row took is gone.
        amount = Math.min(payer.refunding, payer.balance);
        payer.balance -= amount.toUint48();
        payer.refunding = 0;
        payer.readyAt = 0;
        emit PrepaidRefunded(msg.sender, to, amount);
        usdc.safeTransfer(to, amount);
    }

    /// @inheritdoc IPrepaid
    function prepaidOf(address payer) external view returns (Prepaid memory) {
        Payer storage state = _payers[payer];
        return Prepaid({balance: state.balance, refunding: state.refunding, readyAt: state.readyAt});
    }

    /// @dev Takes `amount` out of a payer's balance; false if there is less.
    function _drawPrepaid(Payer storage payer, uint256 amount) internal returns (bool) {
        uint256 slot;
        // The balance has the lowest 48 bits. To write it alone the compiler would read the slot a second time.
        assembly ("memory-safe") {
            slot := sload(payer.slot)
        }
        if (amount > uint48(slot)) return false;
        assembly ("memory-safe") {
            sstore(payer.slot, sub(slot, amount))
        }
        return true;
    }

    /// @dev What a payer has not asked back.
    function _prepaidLeft(address payer) internal view returns (uint256) {
        Payer storage state = _payers[payer];
        return Math.saturatingSub(state.balance, state.refunding);
    }

    function _deposit(uint256 amount) private {
        _addPrepaid(msg.sender, amount);
        usdc.safeTransferFrom(msg.sender, address(this), amount);
    }

    function _addPrepaid(address payer, uint256 amount) private {
        if (amount == 0) revert ZeroAmount();
        uint256 balance = _payers[payer].balance + amount;
        _payers[payer].balance = balance.toUint48();
        emit Deposited(payer, amount, balance);
    }
}
