// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title The floor: the token transfers of a batch and nothing else
/// @notice No checks, no credits, no events. What a batch costs is measured against this.
contract BareTransfers {
    function collect(IERC20 token, address[] calldata payers, uint256 amount) external {
        for (uint256 i = 0; i < payers.length; ++i) {
            token.transferFrom(payers[i], address(this), amount);
        }
    }
}
