// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title The peer: payment channels as x402's batch-settlement scheme has them
/// @notice Written from the scheme's published interface, to be measured beside the router. A payer escrows money for
/// one receiver and signs vouchers of what that receiver may claim in all; the receiver claims on many channels at
/// once. Of the scheme there is what a claim costs: no withdrawal, no refund, and no payment of the receivers, who
/// collect their totals in a transaction of their own.
contract VoucherChannels is EIP712 {
    struct ChannelConfig {
        address payer;
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }

    struct Voucher {
        ChannelConfig channel;
        uint128 maxClaimableAmount;
    }

    struct VoucherClaim {
        Voucher voucher;
        bytes signature;
        uint128 totalClaimed;
    }

    struct Channel {
        uint128 balance;
        uint128 totalClaimed;
    }

    struct Receiver {
        uint128 totalClaimed;
        uint128 totalSettled;
    }

    bytes32 private constant CHANNEL_TYPEHASH = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,"
        "uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 private constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");

    mapping(bytes32 channelId => Channel) private _channels;
    mapping(address receiver => mapping(address token => Receiver)) private _receivers;

    event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimed, uint128 totalClaimed);

    error NotReceiverAuthorizer(address caller);
    error VoucherForged(bytes32 channelId);
    error ClaimExceedsVoucher(uint128 totalClaimed, uint128 maxClaimableAmount);
    error ClaimExceedsBalance(uint128 totalClaimed, uint128 balance);

    constructor() EIP712("x402 Batch Settlement", "1") {}

    function deposit(ChannelConfig calldata config, uint128 amount) external {
        _channels[channelIdOf(config)].balance += amount;
        IERC20(config.token).transferFrom(msg.sender, address(this), amount);
    }

    function claim(VoucherClaim[] calldata claims) external {
        for (uint256 i = 0; i < claims.length; ++i) _claim(claims[i]);
    }

    function channelIdOf(ChannelConfig calldata config) public view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(CHANNEL_TYPEHASH, config)));
    }

    function _claim(VoucherClaim calldata claimed) private {
        ChannelConfig calldata config = claimed.voucher.channel;
        uint128 max = claimed.voucher.maxClaimableAmount;
        uint128 total = claimed.totalClaimed;
        if (msg.sender != config.receiverAuthorizer) revert NotReceiverAuthorizer(msg.sender);
        bytes32 channelId = channelIdOf(config);
        bytes32 digest = _hashTypedDataV4(keccak256(abi.encode(VOUCHER_TYPEHASH, channelId, max)));
        (address signer, , ) = ECDSA.tryRecoverCalldata(digest, claimed.signature);
        if (signer != config.payerAuthorizer) revert VoucherForged(channelId);
        if (total > max) revert ClaimExceedsVoucher(total, max);

        Channel storage channel = _channels[channelId];
        if (total > channel.balance) revert ClaimExceedsBalance(total, channel.balance);
        uint128 amount = total - channel.totalClaimed;
        channel.totalClaimed = total;
        _receivers[config.receiver][config.token].totalClaimed += amount;
        emit Claimed(channelId, msg.sender, amount, total);
    }
}
