// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";

/// @title What this protocol needs of Circle's FiatToken beyond ERC-20
/// @notice `paused` and `isBlacklisted` serve to explain a failed transfer. The token reports its reasons as text,
/// and money is never decided by comparing text.
interface IUSDC is IERC20, IERC20Permit {
    /// @notice Whether Circle has paused every transfer.
    function paused() external view returns (bool);

    /// @notice Whether Circle has blacklisted `account` from sending and receiving.
    function isBlacklisted(address account) external view returns (bool);

    /// @notice Transfers to the caller what `from` has signed for it (EIP-3009).
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}
