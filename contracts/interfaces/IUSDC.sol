// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title What this protocol needs of Circle's FiatToken beyond ERC-20
/// @notice Both reads serve to explain a failed transfer. The token reports its reasons as text, and money is never
/// decided by comparing text.
interface IUSDC is IERC20 {
    /// @notice Whether Circle has paused every transfer.
    function paused() external view returns (bool);

    /// @notice Whether Circle has barred `account` from sending and receiving.
    function isBlacklisted(address account) external view returns (bool);
}
