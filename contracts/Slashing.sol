// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Credits} from "./Credits.sol";
import {IToolStaking} from "./interfaces/IToolStaking.sol";

/// @title How a stake is slashed
/// @notice The part of ToolStaking that judges: proposed in public, executed as proposed after a delay, and paid out to
/// the harmed first. Where the stake is kept, and how much there is, is ToolStaking's to say.
abstract contract Slashing is IToolStaking, Credits, AccessManaged {
    using SafeCast for uint256;

    /// @inheritdoc IToolStaking
    uint256 public constant SLASH_DELAY = 3 days;

    /// @inheritdoc IToolStaking
    uint256 public constant SLASH_WINDOW = 4 days;

    /// @inheritdoc IToolStaking
    uint256 public constant MAX_REFUNDS = 200;

    /// @inheritdoc IToolStaking
    address public immutable insurance;

    mapping(bytes16 toolId => Slash) private _slashes;

    /// @dev Tool and evidence of every executed slash, hashed together.
    mapping(bytes32 caseHash => bool) private _judged;

    /// @param insurance_ Who gets what is left of a slash.
    constructor(address insurance_) {
        if (insurance_ == address(0)) revert InvalidRecipient(insurance_);
        insurance = insurance_;
    }

    /// @inheritdoc IToolStaking
    function proposeSlash(bytes16 toolId, SlashTerms calldata terms) external restricted {
        uint256 pendingUntil = _slashes[toolId].expiresAt;
        if (block.timestamp < pendingUntil) revert SlashPending(toolId, pendingUntil);
        if (terms.amount == 0) revert ZeroAmount();
        if (terms.amount > _slashable(toolId)) revert SlashExceedsStake(terms.amount, _slashable(toolId));
        if (_judged[_caseHash(toolId, terms)]) revert EvidenceAlreadyUsed(toolId, terms.evidenceHash);
        _checkTerms(terms);
        uint256 executableAt = block.timestamp + SLASH_DELAY;
        uint256 expiresAt = executableAt + SLASH_WINDOW;
        _slashes[toolId] = Slash(_hashTerms(terms), executableAt.toUint48(), expiresAt.toUint48());
        emit SlashProposed(toolId, terms, executableAt, expiresAt);
    }

    /// @inheritdoc IToolStaking
    function executeSlash(bytes16 toolId, SlashTerms calldata terms) external restricted {
        Slash memory slash = _slashes[toolId];
        if (slash.expiresAt == 0) revert NoSlash(toolId);
        if (_hashTerms(terms) != slash.termsHash) revert SlashTermsMismatch(_hashTerms(terms), slash.termsHash);
        if (block.timestamp < slash.executableAt) revert SlashNotReady(block.timestamp, slash.executableAt);
        if (block.timestamp >= slash.expiresAt) revert SlashExpired(block.timestamp, slash.expiresAt);
        // Asked again, because another adjudicator than the one who proposed may be executing.
        _checkTerms(terms);
        delete _slashes[toolId];
        _judged[_caseHash(toolId, terms)] = true;

        uint256 slashed = _takeStake(toolId, terms.amount);
        uint256 refunded = _creditRefunds(toolId, terms.refunds);
        if (refunded > slashed) revert RefundsExceedSlash(refunded, slashed);
        uint256 bounty;
        if (terms.reporter != address(0)) {
            // Rounded down, in favour of the insurance account.
            bounty = Math.min((slashed * _bountyBps()) / 10_000, slashed - refunded);
            _credit(terms.reporter, bounty);
        }
        uint256 remainder = slashed - refunded - bounty;
        _credit(insurance, remainder);
        emit Slashed(toolId, terms.evidenceHash, slashed, refunded, bounty, remainder);
    }

    /// @inheritdoc IToolStaking
    function dismissSlash(bytes16 toolId) external restricted {
        _dropSlash(toolId);
    }

    /// @inheritdoc IToolStaking
    function vetoSlash(bytes16 toolId) external restricted {
        _dropSlash(toolId);
    }

    /// @inheritdoc IToolStaking
    function slashOf(bytes16 toolId) external view returns (Slash memory) {
        return _slashes[toolId];
    }

    /// @dev Until when a withdrawal of this tool has to wait for a judgement; in the past if there is none to wait for.
    function _frozenUntil(bytes16 toolId) internal view returns (uint256) {
        return _slashes[toolId].expiresAt;
    }

    /// @dev All that a slash can reach.
    function _slashable(bytes16 toolId) internal view virtual returns (uint256);

    /// @dev Takes up to `amount` of what a slash can reach.
    function _takeStake(bytes16 toolId, uint256 amount) internal virtual returns (uint256 taken);

    /// @dev The reporter's share, in hundredths of a percent.
    function _bountyBps() internal view virtual returns (uint256);

    function _creditRefunds(bytes16 toolId, Refund[] calldata refunds) private returns (uint256 refunded) {
        for (uint256 i = 0; i < refunds.length; ++i) {
            refunded += refunds[i].amount;
            _credit(refunds[i].payer, refunds[i].amount);
            emit Refunded(toolId, refunds[i].payer, refunds[i].amount);
        }
    }

    function _dropSlash(bytes16 toolId) private {
        Slash memory slash = _slashes[toolId];
        if (slash.expiresAt == 0) revert NoSlash(toolId);
        delete _slashes[toolId];
        emit SlashDropped(toolId, slash.termsHash, msg.sender);
    }

    /// @dev What can be checked of the terms alone: that they add up, that nothing is refunded to nobody, and that the
    /// adjudicator is not among those who gain.
    function _checkTerms(SlashTerms calldata terms) private view {
        uint256 count = terms.refunds.length;
        if (count > MAX_REFUNDS) revert TooManyRefunds(count, MAX_REFUNDS);
        bool earns = terms.reporter == msg.sender;
        uint256 refunds;
        for (uint256 i = 0; i < count; ++i) {
            address payer = terms.refunds[i].payer;
            if (payer == address(0)) revert InvalidRecipient(payer);
            refunds += terms.refunds[i].amount;
            earns = earns || payer == msg.sender;
        }
        if (refunds > terms.amount) revert RefundsExceedSlash(refunds, terms.amount);
        if (earns) revert AdjudicatorMustNotEarn(msg.sender);
    }

    function _caseHash(bytes16 toolId, SlashTerms calldata terms) private pure returns (bytes32) {
        return keccak256(abi.encode(toolId, terms.evidenceHash));
    }

    function _hashTerms(SlashTerms calldata terms) private pure returns (bytes32) {
        return keccak256(abi.encode(terms));
    }
}
