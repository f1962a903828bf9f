// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ICredits} from "./interfaces/ICredits.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";

/// @title Credits that are claimed or pushed
/// @notice What every contract that owes money shares: who is owed what, and how it leaves.
abstract contract Credits is ICredits, ReentrancyGuardTransient {
    using SafeERC20 for IUSDC;

    /// @inheritdoc ICredits
    IUSDC public immutable usdc;

    mapping(address account => uint256 amount) private _credits;

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
        amount = _takeCredit(msg.sender);
        if (amount == 0) revert NothingToClaim(msg.sender);
        emit Claimed(msg.sender, to, amount);
        usdc.safeTransfer(to, amount);
    }

    /// @inheritdoc ICredits
    function payout(address[] calldata accounts) external nonReentrant returns (uint256 paid) {
        for (uint256 i = 0; i < accounts.length; ++i) {
            address account = accounts[i];
            uint256 amount = _takeCredit(account);
            if (amount == 0) continue;
            if (account != address(this) && usdc.trySafeTransfer(account, amount)) {
                emit Claimed(account, account, amount);
                paid += amount;
            } else {
                _credit(account, amount);
                emit PayoutFailed(account, amount);
            }
        }
    }

    /// @inheritdoc ICredits
    function creditOf(address account) public view virtual returns (uint256 amount) {
        return _credits[account];
    }

    /// @dev Owes `amount` more to `account`. The caller says in an event what for.
    function _credit(address account, uint256 amount) internal {
        // Whatever is owed was paid in the token, of which there are fewer than 2^256.
        unchecked {
            _credits[account] += amount;
        }
    }

    /// @dev Owes `account` nothing any more; returns what it was owed.
    function _takeCredit(address account) internal virtual returns (uint256 amount) {
        amount = _credits[account];
        _credits[account] = 0;
    }
}
