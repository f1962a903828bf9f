// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Credits} from "../Credits.sol";
import {IOperatorBonds} from "../interfaces/IOperatorBonds.sol";
import {IUSDC} from "../interfaces/IUSDC.sol";
import {IReceiptCourt} from "./interfaces/IReceiptCourt.sol";

/// @title OperatorBonds
/// @notice See IOperatorBonds. Whatever changes a bond tells the router, which keeps in the slot of an operator's limit
/// whether the bond is enough: a batch then pays nothing for that question.
contract OperatorBonds is IOperatorBonds, Credits, AccessManaged {
    using SafeCast for uint256;
    using SafeERC20 for IUSDC;

    /// @inheritdoc IOperatorBonds
    uint256 public constant WITHDRAWAL_DELAY = 21 days;

    uint256 private constant MIN_MINIMUM = 10e6;
    uint256 private constant MAX_MINIMUM = 100_000e6;
    uint256 private constant MAX_LIMIT_BPS = 10_000;

    /// @inheritdoc IOperatorBonds
    address public court;

    Parameters private _parameters;
    mapping(address operator => Bond) private _bonds;

    /// @dev Zero while the operator owns its bond itself.
    mapping(address operator => address owner) private _owners;

    modifier onlyOwner(address operator) {
        address owner = ownerOf(operator);
        if (msg.sender != owner) revert NotBondOwner(msg.sender, owner);
        _;
    }

    modifier onlyCourt() {
        if (msg.sender != court) revert NotCourt(msg.sender);
        _;
    }

    /// @param authority The AccessManager that holds the roles.
    /// @param usdc_ The token.
    constructor(address authority, IUSDC usdc_) Credits(usdc_) AccessManaged(authority) {
        _setParameters(Parameters({minimumBond: 100e6, limitBps: 1000}));
    }

    /// @inheritdoc IOperatorBonds
    function nameOwner(address operator, address owner) external onlyOwner(operator) {
        if (owner == address(0)) revert InvalidOwner(owner);
        _owners[operator] = owner;
        emit OwnerNamed(operator, owner);
    }

    /// @inheritdoc IOperatorBonds
    function post(address operator, uint256 amount) external nonReentrant onlyOwner(operator) {
        if (amount == 0) revert ZeroAmount();
        Bond storage bond = _bonds[operator];
        bond.amount = (bond.amount + amount).toUint64();
        emit BondPosted(operator, msg.sender, amount);
        usdc.safeTransferFrom(msg.sender, address(this), amount);
        _tellRouter(operator);
    }

    /// @inheritdoc IOperatorBonds
    function requestWithdrawal(address operator, uint256 amount) external onlyOwner(operator) {
        Bond storage bond = _bonds[operator];
        if (amount > bond.amount) revert WithdrawalExceedsBond(amount, bond.amount);
        uint256 readyAt = amount == 0 ? 0 : block.timestamp + WITHDRAWAL_DELAY;
        bond.leaving = amount.toUint64();
        bond.readyAt = readyAt.toUint40();
        emit BondRequested(operator, amount, readyAt);
        _tellRouter(operator);
    }

    /// @inheritdoc IOperatorBonds
    function withdraw(address operator, address to) external nonReentrant onlyOwner(operator) returns (uint256 amount) {
        // The token would accept this contract as a recipient, and the money would belong to nobody.
        if (to == address(this)) revert InvalidRecipient(to);
        Bond storage bond = _bonds[operator];
        uint256 readyAt = bond.readyAt;
        if (readyAt == 0) revert NoBondWithdrawal(operator);
        if (block.timestamp < readyAt) revert BondNotReady(block.timestamp, readyAt);
        amount = bond.leaving;
        bond.amount -= amount.toUint64();
        bond.leaving = 0;
        bond.readyAt = 0;
        emit BondWithdrawn(operator, to, amount);
        usdc.safeTransfer(to, amount);
    }

    /// @inheritdoc IOperatorBonds
    function nameCourt(address court_) external restricted {
        if (court != address(0)) revert CourtIsFixed(court);
        court = court_;
        emit CourtNamed(court_);
    }

    /// @inheritdoc IOperatorBonds
    function setParameters(Parameters calldata parameters_) external restricted {
        _setParameters(parameters_);
    }

    /// @inheritdoc IOperatorBonds
    function seize(address operator, uint256 amount, address account) external onlyCourt returns (uint256 taken) {
        Bond storage bond = _bonds[operator];
        taken = Math.min(amount, bond.amount);
        uint256 left = bond.amount - taken;
        bond.amount = left.toUint64();
        // What was asked back is taken last, so that what still counts is what there is to lose first.
        bond.leaving = Math.min(bond.leaving, left).toUint64();
        _credit(account, taken);
        emit BondSeized(operator, account, taken);
        _tellRouter(operator);
    }

    /// @inheritdoc IOperatorBonds
    function takeDeposit(address account, uint256 amount) external nonReentrant onlyCourt {
        usdc.safeTransferFrom(account, address(this), amount);
    }

    /// @inheritdoc IOperatorBonds
    function releaseDeposit(address account, uint256 amount) external onlyCourt {
        _credit(account, amount);
    }

    /// @inheritdoc IOperatorBonds
    function parameters() external view returns (Parameters memory) {
        return _parameters;
    }

    /// @inheritdoc IOperatorBonds
    function bondOf(address operator) external view returns (Bond memory) {
        return _bonds[operator];
    }

    /// @inheritdoc IOperatorBonds
    function ownerOf(address operator) public view returns (address) {
        address owner = _owners[operator];
        return owner == address(0) ? operator : owner;
    }

    /// @inheritdoc IOperatorBonds
    function requiredBond(uint256 limit) public view returns (uint256) {
        // Rounded up, in favour of the payers.
        return Math.max(_parameters.minimumBond, Math.ceilDiv(limit * _parameters.limitBps, 10_000));
    }

    /// @inheritdoc IOperatorBonds
    function covers(address operator, uint256 limit) external view returns (bool) {
        Bond storage bond = _bonds[operator];
        return bond.amount - bond.leaving >= requiredBond(limit);
    }

    function _setParameters(Parameters memory parameters_) private {
        uint256 minimum = parameters_.minimumBond;
        if (minimum < MIN_MINIMUM || minimum > MAX_MINIMUM) {
            revert ParameterOutOfBounds(minimum, MIN_MINIMUM, MAX_MINIMUM);
        }
        uint256 bps = parameters_.limitBps;
        if (bps > MAX_LIMIT_BPS) revert ParameterOutOfBounds(bps, 0, MAX_LIMIT_BPS);
        _parameters = parameters_;
        emit ParametersSet(parameters_);
    }

    function _tellRouter(address operator) private {
        IReceiptCourt(court).router().refreshBond(operator);
    }
}
