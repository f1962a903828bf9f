// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {BeneficiaryCredits} from "./BeneficiaryCredits.sol";
import {ICredits} from "./interfaces/ICredits.sol";
import {IToolStaking} from "./interfaces/IToolStaking.sol";
import {SlashSplit} from "./libraries/SlashSplit.sol";

/// @title How a stake is slashed
/// @notice The part of ToolStaking that judges: proposed in public, executed as proposed after a delay, and paid out to
/// the harmed first. Where the stake is kept, and how much there is, is ToolStaking's to say.
abstract contract Slashing is IToolStaking, BeneficiaryCredits, AccessManaged {
    using SafeCast for uint256;

    /// @inheritdoc IToolStaking
    uint256 public constant SLASH_DELAY = 3 days;

    /// @inheritdoc IToolStaking
    uint256 public constant SLASH_WINDOW = 4 days;

    /// @inheritdoc IToolStaking
    uint256 public constant VETO_COOLDOWN = 8 days;

    /// @inheritdoc IToolStaking
    uint256 public constant MAX_REFUNDS = 200;

    mapping(bytes16 toolId => Slash) private _slashes;

    /// @dev Tool and evidence of every executed slash, hashed together.
    mapping(bytes32 caseHash => bool) private _judged;

    /// @dev Through the authority's `execute`, the caller would be the authority, whoever it was in truth.
    modifier inPerson() {
        if (msg.sender == authority()) revert CalledThroughAuthority(msg.sender);
        _;
    }

    /// @inheritdoc IToolStaking
    function proposeSlash(bytes16 toolId, SlashTerms calldata terms) external restricted inPerson {
        Slash memory slash = _slashes[toolId];
        if (block.timestamp < slash.expiresAt) revert SlashPending(toolId, slash.expiresAt);
        if (block.timestamp < slash.vetoedUntil) revert SlashVetoed(toolId, slash.vetoedUntil);
        if (terms.amount == 0) revert ZeroAmount();
        uint256 executableAt = block.timestamp + SLASH_DELAY;
        uint256 slashable = _slashable(toolId, executableAt);
        if (terms.amount > slashable) revert SlashExceedsStake(terms.amount, slashable);
        if (_judged[_caseHash(toolId, terms)]) revert EvidenceAlreadyUsed(toolId, terms.evidenceHash);
        _checkTerms(terms);
        uint256 expiresAt = executableAt + SLASH_WINDOW;
        uint256 bountyBps = _bountyBps();
        _slashes[toolId] = Slash({
            termsHash: _hashTerms(terms),
            executableAt: executableAt.toUint48(),
            expiresAt: expiresAt.toUint48(),
            amount: terms.amount.toUint64(),
            bountyBps: bountyBps.toUint16(),
            vetoedUntil: 0
        });
        emit SlashProposed(toolId, terms, bountyBps, executableAt, expiresAt);
    }

    /// @inheritdoc IToolStaking
    function executeSlash(bytes16 toolId, SlashTerms calldata terms) external restricted inPerson {
        Slash memory slash = _slashes[toolId];
        if (slash.termsHash == 0) revert NoSlash(toolId);
        if (_hashTerms(terms) != slash.termsHash) revert SlashTermsMismatch(_hashTerms(terms), slash.termsHash);
        if (block.timestamp < slash.executableAt) revert SlashNotReady(block.timestamp, slash.executableAt);
        if (block.timestamp >= slash.expiresAt) revert SlashExpired(block.timestamp, slash.expiresAt);
        // Asked again, because who holds a role may have changed since the proposal.
        _checkTerms(terms);
        delete _slashes[toolId];
        _judged[_caseHash(toolId, terms)] = true;

        uint256 slashed = _takeStake(toolId, terms.amount);
        // Evidence is not used up for nothing.
        if (slashed == 0) revert SlashExceedsStake(terms.amount, 0);
        uint256 refunded = _creditRefunds(toolId, terms.refunds, slashed);
        uint256 bountyBps = terms.reporter == address(0) ? 0 : slash.bountyBps;
        uint256 promised = SlashSplit.bountyOf(slashed, bountyBps);
        (uint256 bounty, uint256 remainder) = SlashSplit.split(slashed, refunded, promised);
        _credit(terms.reporter, bounty);
        _creditBeneficiary(remainder);
        emit Slashed(toolId, terms.evidenceHash, terms.reporter, slashed, refunded, bounty, remainder);
    }

    /// @inheritdoc IToolStaking
    function dismissSlash(bytes16 toolId) external restricted inPerson {
        _dropSlash(toolId, _slashes[toolId].termsHash, 0);
    }

    /// @inheritdoc IToolStaking
    function vetoSlash(bytes16 toolId, bytes32 termsHash) external restricted inPerson {
        _dropSlash(toolId, termsHash, block.timestamp + VETO_COOLDOWN);
    }

    /// @inheritdoc IToolStaking
    function slashOf(bytes16 toolId) external view returns (Slash memory) {
        return _slashes[toolId];
    }

    /// @dev Until when a withdrawal of this tool must wait for a judgement; in the past if there is none to wait for.
    function _frozenUntil(bytes16 toolId) internal view returns (uint256) {
        return _slashes[toolId].expiresAt;
    }

    /// @dev What a proposed slash asks for, or as much of it as there is.
    function _claimedBySlash(bytes16 toolId) internal view returns (uint256) {
        if (block.timestamp >= _slashes[toolId].expiresAt) return 0;
        return Math.min(_slashes[toolId].amount, _slashable(toolId, block.timestamp));
    }

    /// @dev All that a slash can reach at that moment: what can leave before is not part of it.
    function _slashable(bytes16 toolId, uint256 moment) internal view virtual returns (uint256);

    /// @dev Takes up to `amount` of what a slash can reach now.
    function _takeStake(bytes16 toolId, uint256 amount) internal virtual returns (uint256 taken);

    /// @dev The reporter's share, in basis points.
    function _bountyBps() internal view virtual returns (uint256);

    /// @dev Whoever judges must not earn by it, and the insurance account gets what is left in any case. That an
    /// accomplice earns, nobody can see from here: the delay and the veto are for that.
    function _checkRecipient(address account) internal view {
        if (!_canClaim(account) || account == _beneficiary) revert InvalidRecipient(account);
        _checkNoJudge(account);
    }

    /// @dev That `account` may not do what the caller is doing.
    function _checkNoJudge(address account) internal view {
        (bool immediate, uint32 delay) = IAccessManager(authority()).canCall(account, address(this), msg.sig);
        if (immediate || delay != 0) revert AdjudicatorMustNotEarn(account);
    }

    /// @dev Whether a credit of `account` could ever be claimed. These accounts exist and can never call `claim`. The
    /// protocol's own contracts are known by the authority, in which only the deployer could say of each of them that
    /// its `claim` is everybody's.
    function _canClaim(address account) internal view returns (bool) {
        address[4] memory mute = [address(0), address(this), address(usdc), authority()];
        for (uint256 i = 0; i < mute.length; ++i) if (account == mute[i]) return false;
        return IAccessManager(authority()).getTargetFunctionRole(account, ICredits.claim.selector) == 0;
    }

    /// @dev In full, or each in proportion if less was taken than was proposed. What rounding leaves, less than a unit
    /// per refund, goes the way of the rest.
    function _creditRefunds(
        bytes16 toolId,
        Refund[] calldata refunds,
        uint256 slashed
    ) private returns (uint256 refunded) {
        uint256 proposed = _sum(refunds);
        for (uint256 i = 0; i < refunds.length; ++i) {
            uint256 amount = SlashSplit.refund(refunds[i].amount, proposed, slashed);
            refunded += amount;
            _credit(refunds[i].payer, amount);
            emit Refunded(toolId, refunds[i].payer, amount);
        }
    }

    function _dropSlash(bytes16 toolId, bytes32 termsHash, uint256 vetoedUntil) private {
        bytes32 proposed = _slashes[toolId].termsHash;
        if (proposed == 0) revert NoSlash(toolId);
        if (termsHash != proposed) revert SlashTermsMismatch(termsHash, proposed);
        delete _slashes[toolId];
        _slashes[toolId].vetoedUntil = vetoedUntil.toUint48();
        emit SlashDropped(toolId, termsHash, msg.sender);
    }

    /// @dev What can be checked of the terms alone: that they add up, that everybody who gains could claim it, and that
    /// no adjudicator is among them, the insurance account included.
    function _checkTerms(SlashTerms calldata terms) private view {
        uint256 count = terms.refunds.length;
        if (count > MAX_REFUNDS) revert TooManyRefunds(count, MAX_REFUNDS);
        for (uint256 i = 0; i < count; ++i) _checkRecipient(terms.refunds[i].payer);
        if (terms.reporter != address(0)) _checkRecipient(terms.reporter);
        uint256 refunds = _sum(terms.refunds);
        if (refunds > terms.amount) revert RefundsExceedSlash(refunds, terms.amount);
        _checkNoJudge(_beneficiary);
    }

    function _sum(Refund[] calldata refunds) private pure returns (uint256 sum) {
        for (uint256 i = 0; i < refunds.length; ++i) sum += refunds[i].amount;
    }

    function _caseHash(bytes16 toolId, SlashTerms calldata terms) private pure returns (bytes32) {
        return keccak256(abi.encode(toolId, terms.evidenceHash));
    }

    function _hashTerms(SlashTerms calldata terms) private pure returns (bytes32) {
        return keccak256(abi.encode(terms));
    }
}
