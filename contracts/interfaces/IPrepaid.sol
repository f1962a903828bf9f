// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @title Money that payers deposit in advance
/// @notice A prepaid balance pays without a transfer, and cannot be taken away between a call and its settlement: a
/// refund is asked for first and paid after a delay that is longer than settlement takes. Until then all of it can
/// be drawn on. Refunds cannot be paused.
interface IPrepaid {
    /// @notice A payer's prepaid money.
    /// @param balance All of it, in micro-USDC.
    /// @param refunding What of it the payer has asked back. More than the balance if the rest was drawn meanwhile.
    /// @param readyAt When that can be refunded; zero without a request.
    struct Prepaid {
        uint48 balance;
        uint48 refunding;
        uint40 readyAt;
    }

    /// @notice `payer` deposited `amount`, and has `balance` now.
    event Deposited(address indexed payer, uint256 amount, uint256 balance);

    /// @notice `payer` asked `amount` back; zero takes an earlier request back.
    event RefundRequested(address indexed payer, uint256 amount, uint256 readyAt);

    /// @notice `amount` of `payer`'s balance was sent to `to`.
    event PrepaidRefunded(address indexed payer, address indexed to, uint256 amount);

    /// @notice The request is for `amount` while the balance is `balance`.
    error RefundExceedsBalance(uint256 amount, uint256 balance);

    /// @notice Nothing was asked back.
    error NoRefund(address payer);

    error RefundNotReady(uint256 timestamp, uint256 readyAt);

    /// @notice How long a refund takes.
    function REFUND_DELAY() external view returns (uint256);

    /// @notice A payer's prepaid money.
    function prepaidOf(address payer) external view returns (Prepaid memory);

    /// @notice Deposits `amount` out of the caller's allowance.
    function deposit(uint256 amount) external;

    /// @notice The same with the allowance by signature (EIP-2612), in one transaction.
    function depositWithPermit(uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;

    /// @notice Deposits what `payer` has authorized to be transferred here (EIP-3009 `receiveWithAuthorization`).
    /// Anybody may pay the gas.
    function depositWithAuthorization(
        address payer,
        uint256 amount,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;

    /// @notice Asks for `amount` of the caller's balance, instead of what was asked for before. Zero asks for
    /// nothing.
    function requestRefund(uint256 amount) external;

    /// @notice Sends what the caller has asked back, as far as it was not drawn meanwhile, to `to`, once it is ready.
    function refund(address to) external returns (uint256 amount);
}
