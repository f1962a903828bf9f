// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {IUSDC} from "./IUSDC.sol";

/// @title The rest of Circle's token that local chains, tests and payers' scripts use
/// @notice Nothing in the deployed contracts calls these.
interface IFiatToken is IUSDC {
    function name() external view returns (string memory);

    function version() external view returns (string memory);

    function increaseAllowance(address spender, uint256 increment) external returns (bool);

    function decreaseAllowance(address spender, uint256 decrement) external returns (bool);

    function mint(address to, uint256 amount) external returns (bool);

    function pause() external;

    function unpause() external;

    function blacklist(address account) external;

    function unBlacklist(address account) external;

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}
