// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Beneficiary} from "./Beneficiary.sol";
import {Credits} from "./Credits.sol";
import {Penalties} from "./Penalties.sol";
import {IBeneficiary} from "./interfaces/IBeneficiary.sol";
import {IToolStaking} from "./interfaces/IToolStaking.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";
import {ToolId} from "./libraries/ToolId.sol";

/// @title ToolStaking
/// @notice See IToolStaking.
contract ToolStaking is Penalties {
    using SafeCast for uint256;
    using SafeERC20 for IUSDC;

    /// @inheritdoc IToolStaking
    uint256 public constant WITHDRAWAL_DELAY = 7 days;

    /// @inheritdoc IToolStaking
    uint256 public constant MAX_FREEZE = 14 days;

    Parameters private _parameters;
    mapping(bytes16 toolId => Tool) private _tools;

    modifier onlyOwner(bytes16 toolId) {
        _checkOwner(toolId);
        _;
    }

    /// @param authority The AccessManager that holds the roles.
    /// @param usdc_ The token.
    /// @param insurance_ Who gets what is left of a slash.
    constructor(
        address authority,
        IUSDC usdc_,
        address insurance_
    ) Credits(usdc_) Beneficiary(insurance_) AccessManaged(authority) {
        _setParameters(
            Parameters({
                minimumStake: 10e6,
                stakeMultiplier: 100,
                bountyBps: 1000,
                maxPenalty: 5e6,
                dailyPenaltyBps: 2500,
                earningMultiple: 100
            })
        );
    }

    /// @inheritdoc IToolStaking
    function list(
        bytes32 salt,
        uint256 price,
        address payout_,
        uint256 amount
    ) external nonReentrant returns (bytes16 toolId) {
        toolId = ToolId.derive(msg.sender, salt);
        Tool storage listing = _tools[toolId];
        if (listing.owner != address(0)) revert ToolAlreadyListed(toolId);
        _checkStake(amount, price);
        listing.owner = msg.sender;
        emit ToolListed(toolId, msg.sender, salt);
        _setPrice(toolId, price);
        _setPayout(toolId, payout_);
        _deposit(toolId, amount);
    }

    /// @inheritdoc IToolStaking
    function setPrice(bytes16 toolId, uint256 price) external onlyOwner(toolId) {
        Tool storage listing = _tools[toolId];
        if (price > listing.price) _checkStake(listing.stake, price);
        _setPrice(toolId, price);
    }

    /// @inheritdoc IToolStaking
    function setPayout(bytes16 toolId, address payout_) external onlyOwner(toolId) {
        _setPayout(toolId, payout_);
    }

    /// @inheritdoc IToolStaking
    function transferOwnership(bytes16 toolId, address newOwner) external onlyOwner(toolId) {
        _tools[toolId].pendingOwner = newOwner;
        emit OwnershipTransferStarted(toolId, msg.sender, newOwner);
    }

    /// @inheritdoc IToolStaking
    function acceptOwnership(bytes16 toolId) external {
        Tool storage listing = _tools[toolId];
        if (msg.sender != listing.pendingOwner) revert NotPendingOwner(msg.sender, listing.pendingOwner);
        emit OwnershipTransferred(toolId, listing.owner, msg.sender);
        listing.owner = msg.sender;
        listing.pendingOwner = address(0);
    }

    /// @inheritdoc IToolStaking
    function stake(bytes16 toolId, uint256 amount) external nonReentrant {
        if (_tools[toolId].owner == address(0)) revert ToolNotListed(toolId);
        if (amount == 0) revert ZeroAmount();
        _deposit(toolId, amount);
    }

    /// @inheritdoc IToolStaking
    function requestWithdrawal(bytes16 toolId, uint256 amount) external onlyOwner(toolId) {
        Tool storage listing = _tools[toolId];
        if (amount == 0) revert ZeroAmount();
        if (listing.readyAt != 0) revert WithdrawalPending(listing.withdrawing, listing.readyAt);
        if (amount > listing.stake) revert WithdrawalExceedsStake(amount, listing.stake);
        uint256 readyAt = block.timestamp + WITHDRAWAL_DELAY;
        listing.stake -= amount.toUint48();
        listing.withdrawing = amount.toUint48();
        listing.readyAt = readyAt.toUint48();
        emit WithdrawalRequested(toolId, amount, readyAt);
    }

    /// @inheritdoc IToolStaking
    function cancelWithdrawal(bytes16 toolId) external onlyOwner(toolId) {
        uint256 amount = _endWithdrawal(toolId);
        _tools[toolId].stake += amount.toUint48();
        emit WithdrawalCancelled(toolId, amount);
    }

    /// @inheritdoc IToolStaking
    function withdraw(bytes16 toolId, address to) external nonReentrant onlyOwner(toolId) returns (uint256 amount) {
        // The token would accept this contract as a recipient, and the money would belong to nobody.
        if (to == address(this)) revert InvalidRecipient(to);
        uint256 readyAt = _tools[toolId].readyAt;
        if (block.timestamp < readyAt) revert WithdrawalNotReady(block.timestamp, readyAt);
        uint256 frozenUntil = Math.min(_frozenUntil(toolId), readyAt + MAX_FREEZE);
        if (block.timestamp < frozenUntil) revert WithdrawalFrozen(block.timestamp, frozenUntil);
        amount = _endWithdrawal(toolId);
        emit Withdrawn(toolId, to, amount);
        usdc.safeTransfer(to, amount);
    }

    /// @inheritdoc IToolStaking
    function setParameters(Parameters calldata newParameters) external restricted {
        _setParameters(newParameters);
    }

    /// @inheritdoc IBeneficiary
    function proposeBeneficiary(address account) external restricted {
        _proposeBeneficiary(account);
    }

    /// @inheritdoc IToolStaking
    function insurance() external view returns (address) {
        return _beneficiary;
    }

    /// @inheritdoc IToolStaking
    function parameters() external view returns (Parameters memory) {
        return _parameters;
    }

    /// @inheritdoc IToolStaking
    function tool(bytes16 toolId) external view returns (Tool memory) {
        return _tools[toolId];
    }

    /// @inheritdoc IToolStaking
    function toolIdOf(address owner, bytes32 salt) external pure returns (bytes16) {
        return ToolId.derive(owner, salt);
    }

    /// @inheritdoc IToolStaking
    function earners(bytes16[] calldata toolIds) external view returns (uint256[] memory result) {
        result = new uint256[](toolIds.length);
        Parameters memory current = _parameters;
        for (uint256 i = 0; i < toolIds.length; ++i) {
            (address payee, uint256 limit) = _earner(toolIds[i], current);
            result[i] = (uint256(uint160(payee)) << 96) | limit;
        }
    }

    /// @inheritdoc IToolStaking
    function earner(bytes16 toolId) external view returns (address payee, uint256 limit) {
        return _earner(toolId, _parameters);
    }

    /// @inheritdoc IToolStaking
    function requiredStake(uint256 price) public view returns (uint256) {
        return _requiredStake(price, _parameters);
    }

    /// @dev The parameters are passed in, so that a batch of tools reads them once.
    function _earner(bytes16 toolId, Parameters memory current) private view returns (address payee, uint256 limit) {
        Tool storage listing = _tools[toolId];
        uint256 slot;
        // One read for the payout, the stake and the price, which the compiler would read one by one.
        assembly ("memory-safe") {
            slot := sload(listing.slot)
        }
        payee = address(uint160(slot));
        limit = uint48(slot >> 160);
        uint256 price = slot >> 208;
        // An unlisted tool has no stake, and every price needs some.
        if (limit < _requiredStake(price, current)) return (address(0), 0);
        // A stake of 48 bits times a multiple of 16.
        unchecked {
            limit *= current.earningMultiple;
        }
    }

    function _requiredStake(uint256 price, Parameters memory current) private pure returns (uint256) {
        uint256 byPrice = price * current.stakeMultiplier;
        return byPrice > current.minimumStake ? byPrice : current.minimumStake;
    }

    function _bountyBps() internal view override returns (uint256) {
        return _parameters.bountyBps;
    }

    function _maxPenalty() internal view override returns (uint256) {
        return _parameters.maxPenalty;
    }

    function _dailyPenaltyBps() internal view override returns (uint256) {
        return _parameters.dailyPenaltyBps;
    }

    function _checkOwner(bytes16 toolId) private view {
        address owner = _tools[toolId].owner;
        if (owner == address(0)) revert ToolNotListed(toolId);
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
    }

    function _checkStake(uint256 amount, uint256 price) private view {
        uint256 required = requiredStake(price);
        if (amount < required) revert StakeTooLow(amount, required);
    }

    function _setPrice(bytes16 toolId, uint256 price) private {
        _tools[toolId].price = price.toUint48();
        emit PriceSet(toolId, price);
    }

    function _setPayout(bytes16 toolId, address payout_) private {
        if (!_canClaim(payout_)) revert InvalidPayout(payout_);
        _tools[toolId].payout = payout_;
        emit PayoutSet(toolId, payout_);
    }

    function _deposit(bytes16 toolId, uint256 amount) private {
        uint48 newStake = (_tools[toolId].stake + amount).toUint48();
        _tools[toolId].stake = newStake;
        emit Staked(toolId, msg.sender, amount, newStake);
        usdc.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @dev Clears the request and returns its amount, which can be zero: a slash may have taken it all.
    function _endWithdrawal(bytes16 toolId) private returns (uint256 amount) {
        Tool storage listing = _tools[toolId];
        if (listing.readyAt == 0) revert NoWithdrawal(toolId);
        amount = listing.withdrawing;
        listing.withdrawing = 0;
        listing.readyAt = 0;
    }

    /// @dev The stake, and what waits for its withdrawal as long as a slash could still hold it back.
    function _slashable(bytes16 toolId, uint256 moment) internal view override returns (uint256) {
        Tool storage listing = _tools[toolId];
        bool frozen = moment < listing.readyAt + MAX_FREEZE;
        return uint256(listing.stake) + (frozen ? listing.withdrawing : 0);
    }

    /// @dev Takes up to `amount`, from what counts as stake first: a tool that cheated stops earning before its
    /// owner's savings are touched.
    function _takeStake(bytes16 toolId, uint256 amount) internal override returns (uint256 taken) {
        Tool storage listing = _tools[toolId];
        taken = Math.min(amount, _slashable(toolId, block.timestamp));
        uint256 fromStake = Math.min(taken, listing.stake);
        listing.stake -= fromStake.toUint48();
        listing.withdrawing -= (taken - fromStake).toUint48();
    }

    function _setParameters(Parameters memory newParameters) private {
        _checkBounds(newParameters.minimumStake, 1e6, 10_000e6);
        _checkBounds(newParameters.stakeMultiplier, 1, 1000);
        _checkBounds(newParameters.bountyBps, 0, 3000);
        _checkBounds(newParameters.maxPenalty, 0, 100e6);
        _checkBounds(newParameters.dailyPenaltyBps, 0, 5000);
        _checkBounds(newParameters.earningMultiple, 1, 1000);
        _parameters = newParameters;
        emit ParametersSet(newParameters);
    }

    function _checkBounds(uint256 attempt, uint256 min, uint256 max) private pure {
        if (attempt < min || attempt > max) revert ParameterOutOfBounds(attempt, min, max);
    }
}
