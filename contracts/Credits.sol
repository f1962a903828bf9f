// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ICredits} from "./interfaces/ICredits.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";

/// @title Credits that are claimed or pushed
/// @notice What ContextRouter and ToolStaking share: who is owed what, and how it leaves.
abstract contract Credits is ICredits, ReentrancyGuardTransient {
    using SafeERC20 for IUSDC;

    /// @inheritdoc ICredits
    IUSDC public immutable usdc;

    /// @inheritdoc ICredits
    mapping(address account => uint256 amount) public creditOf;

    constructor(IUSDC usdc_) {
        usdc = usdc_;
    }

    /// @inheritdoc ICredits
    function claim() external returns (uint256 amount) {
        return claimTo(msg.sender);
    }

    /// @inheritdoc ICredits
    function claimTo(address to) public nonReentrant returns (uint256 amount) {
        // The token would accept this contract as a recipient, and the money would belong to nobody.
        if (to == address(this)) revert InvalidRecipient(to);
        amount = creditOf[msg.sender];
        if (amount == 0) revert NothingToClaim(msg.sender);
        creditOf[msg.sender] = 0;
        emit Claimed(msg.sender, to, amount);
        usdc.safeTransfer(to, amount);
    }

    /// @inheritdoc ICredits
    function payout(address[] calldata accounts) external nonReentrant returns (uint256 paid) {
        for (uint256 i = 0; i < accounts.length; ++i) {
            address account = accounts[i];
            uint256 amount = creditOf[account];
            if (amount == 0) continue;
            creditOf[account] = 0;
            if (account != address(this) && usdc.trySafeTransfer(account, amount)) {
                emit Claimed(account, account, amount);
                paid += amount;
            } else {
                creditOf[account] = amount;
                emit PayoutFailed(account, amount);
            }
        }
    }

    /// @dev Owes `amount` more to `account`. The caller says in an event what for.
    function _credit(address account, uint256 amount) internal {
        creditOf[account] += amount;
    }
}
