// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IContextRouter} from "../interfaces/IContextRouter.sol";
import {IOperatorBonds} from "../interfaces/IOperatorBonds.sol";
import {ICharges} from "./interfaces/ICharges.sol";
import {IReceiptCourt} from "./interfaces/IReceiptCourt.sol";
import {Accounts} from "./receipts/Accounts.sol";
import {Receipts} from "./receipts/Receipts.sol";
import {SettledRows} from "./receipts/SettledRows.sol";

/// @title ReceiptCourt
/// @notice See IReceiptCourt. It holds no money: bonds, deposits and what is credited are in OperatorBonds.
contract ReceiptCourt is Accounts, AccessManaged {
    using Receipts for Receipt;
    using SafeCast for uint256;

    /// @dev A receipt that was paid, in a row that took `charged` in all.
    struct Paid {
        bytes32 batchId;
        bytes32 leaf;
        address operator;
        uint40 settledAt;
        uint56 charged;
    }

    /// @dev A receipt whose path is longer would not fit into a transaction with the batch that it is in. One that
    /// nobody could prove anything with answers nothing.
    uint256 private constant MAX_PROOF_NODES = 1500;

    /// @inheritdoc IReceiptCourt
    uint256 public constant CONTEST_WINDOW = 7 days;

    /// @inheritdoc IReceiptCourt
    uint256 public constant ANSWER_WINDOW = 3 days;

    /// @inheritdoc IReceiptCourt
    uint256 public constant PROOF_WINDOW = 14 days;

    /// @inheritdoc IReceiptCourt
    uint256 public constant DEPOSIT = 1e6;

    /// @inheritdoc IReceiptCourt
    uint256 public constant PREMIUM = 0.5e6;

    /// @inheritdoc IReceiptCourt
    IContextRouter public immutable router;

    /// @inheritdoc IReceiptCourt
    IOperatorBonds public immutable bonds;

    mapping(bytes32 batchId => mapping(bytes32 leaf => Paid)) private _shown;

    /// @param authority The AccessManager that knows the other courts.
    /// @param router_ Who settles batches.
    constructor(address authority, IContextRouter router_) AccessManaged(authority) {
        router = router_;
        bonds = router_.bonds();
    }

    /// @inheritdoc IReceiptCourt
    function proveDoubleCharge(PaidCharge calldata first, PaidCharge calldata second) external {
        _proveDoubleCharge(first.receipt, _checkPaid(first), second.receipt, _checkPaid(second));
    }

    /// @inheritdoc IReceiptCourt
    function showPaid(PaidCharge calldata paid) external {
        Paid memory proven = _checkPaid(paid);
        _shown[proven.batchId][proven.leaf] = proven;
    }

    /// @inheritdoc IReceiptCourt
    function proveShownTwice(ShownCharge calldata first, ShownCharge calldata second) external {
        _proveDoubleCharge(first.receipt, _findShown(first), second.receipt, _findShown(second));
    }

    /// @inheritdoc IReceiptCourt
    function contest(Settlement calldata settlement, address payer) external {
        (bytes32 batchId, uint256 settledAt) = SettledRows.verify(router, settlement);
        _checkWindow(settledAt + CONTEST_WINDOW);
        (Line[] memory lines, uint256 charged) = SettledRows.charged(settlement, payer);
        if (charged == 0) revert NothingCharged(batchId, payer);
        Row storage row = _rows[batchId][payer];
        Contest storage state = row.contest;
        if (state.stage != Stage.None) revert AlreadyContested(batchId, payer);
        uint256 until = block.timestamp + ANSWER_WINDOW;
        state.stage = Stage.Contested;
        state.operator = settlement.operator;
        state.contester = msg.sender;
        state.until = until.toUint40();
        state.charged = charged.toUint64();
        row.linesHash = keccak256(abi.encode(lines));
        emit Contested(batchId, payer, settlement.operator, msg.sender, charged, until, lines);
        bonds.takeDeposit(msg.sender, DEPOSIT);
    }

    /// @inheritdoc IReceiptCourt
    function answer(bytes32 batchId, address payer, Answer calldata shown) external {
        Row storage row = _rows[batchId][payer];
        Contest storage state = row.contest;
        if (state.stage != Stage.Contested) revert NotContested(batchId, payer);
        _checkWindow(state.until);
        uint256 nodes = shown.proofFlags.length;
        if (nodes > MAX_PROOF_NODES) revert ProofTooLong(nodes, MAX_PROOF_NODES);
        Line[] memory lines = shown.lines;
        Progress storage progress = _progress[batchId][payer][msg.sender];
        bytes32 linesHash = keccak256(abi.encode(lines));
        // All of the lines begin an answer, whatever was shown before: whoever showed the last receipt first has left
        // no room for the others, and with a stolen key that may be somebody else than who answers.
        bool begins = linesHash == row.linesHash;
        if (!begins && linesHash != progress.linesHash) revert LinesMismatch(batchId, payer);
        bytes32 last = begins ? bytes32(0) : progress.lastLeaf;
        bytes32[] memory leaves = _showReceipts(payer, shown, lines, last);
        if (!MerkleProof.multiProofVerifyCalldata(shown.proof, shown.proofFlags, batchId, leaves)) {
            revert ReceiptNotInBatch(batchId);
        }
        if (_sum(lines) != 0) {
            progress.linesHash = keccak256(abi.encode(lines));
            progress.lastLeaf = leaves.length == 0 ? last : leaves[leaves.length - 1];
            emit ReceiptsShown(batchId, payer, msg.sender, lines);
            return;
        }
        state.stage = Stage.Answered;
        emit Answered(batchId, payer, state.operator);
        // What goes back now is not given back again by the next proof.
        if (row.isAtFault) row.returned = uint64(DEPOSIT);
        bonds.releaseDeposit(row.isAtFault ? state.contester : state.operator, DEPOSIT);
    }

    /// @inheritdoc IReceiptCourt
    function refund(bytes32 batchId, address payer) external returns (uint256 amount) {
        Contest storage state = _rows[batchId][payer].contest;
        bool isFirst = state.stage == Stage.Contested;
        if (!isFirst && state.stage != Stage.Refunded) revert NotContested(batchId, payer);
        if (block.timestamp < state.until) revert WindowOpen(block.timestamp, state.until);
        uint256 due = Math.saturatingSub(state.charged, state.accounted);
        if (due == 0 && !isFirst) revert AlreadyRefunded(batchId, payer);
        state.stage = Stage.Refunded;
        amount = bonds.seize(state.operator, due, payer);
        state.accounted += amount.toUint64();
        emit RowRefunded(batchId, payer, state.operator, amount, due - amount);
        if (isFirst) bonds.releaseDeposit(state.contester, DEPOSIT);
    }

    /// @inheritdoc ICharges
    function noteRefund(PaidCharge calldata paid) external restricted returns (address payer, uint256 amount) {
        Paid memory proven = _checkPaid(paid);
        Receipt calldata receipt = paid.receipt;
        payer = receipt.chargedTo;
        _checkOpen(proven.batchId, payer);
        Copy storage copy = _copies[proven.batchId][proven.leaf];
        Row storage row = _rows[proven.batchId][payer];
        uint256 left = Math.saturatingSub(proven.charged, uint256(row.refunded) + row.noted);
        if (copy.isDouble || copy.isNoted || left == 0) revert AlreadyRefunded(proven.batchId, payer);
        copy.isNoted = true;
        // Of a charge for several calls one is given back. How many there were is the operator's word: none is as good
        // as one, and with however many something is left. Rounded up, in favour of the payer.
        amount = Math.min(left, Math.ceilDiv(receipt.amount, Math.max(receipt.calls, 1)));
        row.noted += amount.toUint64();
        _account(proven.batchId, payer, proven.leaf, amount);
        emit RefundNoted(receipt.chargeId, payer, proven.batchId, amount);
    }

    /// @inheritdoc IReceiptCourt
    function chargedIn(
        Settlement calldata settlement,
        address payer
    ) external view returns (bytes32 batchId, Line[] memory lines, uint256 charged) {
        (batchId, ) = SettledRows.verify(router, settlement);
        (lines, charged) = SettledRows.charged(settlement, payer);
    }

    /// @inheritdoc IReceiptCourt
    function leafOf(Receipt calldata receipt) external view returns (bytes32) {
        return receipt.leaf(address(router));
    }

    /// @dev Gives the later of two payments of a charge back, with what it has cost to show them.
    function _proveDoubleCharge(
        Receipt calldata first,
        Paid memory kept,
        Receipt calldata second,
        Paid memory doubled
    ) private {
        bytes32 chargeId = second.chargeId;
        address operator = doubled.operator;
        // An operator answers for its own receipts. Whoever else writes the id of its charge into one proves nothing.
        bool isDouble =
            first.chargeId == chargeId &&
                kept.operator == operator &&
                kept.settledAt <= doubled.settledAt &&
                (kept.batchId != doubled.batchId || kept.leaf != doubled.leaf);
        if (!isDouble) revert NotDouble(first.chargeId, chargeId);
        address payer = second.chargedTo;
        Copy storage copy = _copies[doubled.batchId][doubled.leaf];
        Row storage row = _rows[doubled.batchId][payer];
        // What was proven before and the bond could not pay is owed. Neither time nor a contest that nobody answers,
        // which the operator could have brought itself, is a way to be rid of it.
        if (!copy.isDouble) {
            _checkWindow(doubled.settledAt + PROOF_WINDOW);
            _checkOpen(kept.batchId, first.chargedTo);
            _checkOpen(doubled.batchId, payer);
            if (_copies[kept.batchId][kept.leaf].isDouble) {
                revert AlreadyRefunded(kept.batchId, first.chargedTo);
            }
            _account(kept.batchId, first.chargedTo, kept.leaf, first.amount);
        }
        // Whoever settles can write any number of receipts for what it took once, and prove them against each other:
        // the bond would be gone before anybody else asks for it. So a row gives back no more than it took, and a
        // proof pays its prover no more than the payer. What another court gave back of the row counts, unless it was
        // for the first payment: whoever made both has one back from each court.
        uint256 noted = Math.saturatingSub(row.noted, first.chargedTo == payer ? first.amount : 0);
        uint256 left = Math.saturatingSub(doubled.charged, row.refunded + noted);
        uint256 due = Math.min(second.amount - copy.refunded, left);
        uint256 amount = bonds.seize(operator, due, payer);
        // Whoever had to contest a row in order to see its receipts was right to.
        uint256 deposits = _returnDeposit(kept.batchId, first.chargedTo, operator);
        deposits += _returnDeposit(doubled.batchId, payer, operator);
        if (due + deposits == 0) revert AlreadyRefunded(doubled.batchId, payer);
        uint256 premium = copy.isDouble ? 0 : _seizeTwice(operator, Math.min(PREMIUM, amount), msg.sender);
        copy.isDouble = true;
        copy.refunded += amount.toUint64();
        row.refunded += amount.toUint64();
        _account(doubled.batchId, payer, doubled.leaf, second.amount);
        emit DoubleChargeProven(chargeId, payer, operator, doubled.batchId, msg.sender, amount, premium);
    }

    /// @dev Takes the receipts, which follow the leaf `last`, off the lines; returns their leaves.
    function _showReceipts(
        address payer,
        Answer calldata shown,
        Line[] memory lines,
        bytes32 last
    ) private view returns (bytes32[] memory leaves) {
        leaves = new bytes32[](shown.receipts.length);
        for (uint256 i = 0; i < leaves.length; ++i) {
            Receipt calldata receipt = shown.receipts[i];
            Line memory line = lines[shown.places[i]];
            if (receipt.chargedTo != payer || receipt.toolId != line.toolId) revert ReceiptMismatch(receipt.chargeId);
            uint256 amount = receipt.amount;
            if (amount > line.amount) revert ReceiptExceedsLine(receipt.chargeId, amount, line.amount);
            bytes32 leaf = receipt.leaf(address(router));
            if (leaf <= last) revert ReceiptsOutOfOrder(receipt.chargeId);
            line.amount -= amount;
            leaves[i] = last = leaf;
        }
    }

    /// @dev Notes that a charge was paid twice, which the receipts of this row prove. If they had to be contested to
    /// be seen, the deposit goes back: now out of the bond, because the answer has brought it to the operator, or
    /// with the answer if that is still to come.
    function _returnDeposit(bytes32 batchId, address payer, address operator) private returns (uint256 amount) {
        Row storage row = _rows[batchId][payer];
        row.isAtFault = true;
        if (row.contest.stage != Stage.Answered || row.returned == DEPOSIT) return 0;
        amount = _seizeTwice(operator, DEPOSIT - row.returned, row.contest.contester);
        row.returned += amount.toUint64();
    }

    /// @dev What is taken beyond what the payer paid is taken again for the insurance account, and for that first.
    /// Otherwise an operator could have its bond back at once, as its own accuser, for less than a batch costs in fees.
    function _seizeTwice(address operator, uint256 amount, address account) private returns (uint256 taken) {
        taken = bonds.seize(operator, amount, router.staking().insurance());
        taken = bonds.seize(operator, taken, account);
    }

    /// @dev That a receipt is in a batch, and that what it is for was charged there.
    function _checkPaid(PaidCharge calldata paid) private view returns (Paid memory proven) {
        uint256 settledAt;
        (proven.batchId, settledAt) = SettledRows.verify(router, paid.settlement);
        (proven.settledAt, proven.operator) = (settledAt.toUint40(), paid.settlement.operator);
        Receipt calldata receipt = paid.receipt;
        proven.leaf = receipt.leaf(address(router));
        if (!MerkleProof.verifyCalldata(paid.path, proven.batchId, proven.leaf)) {
            revert ReceiptNotInBatch(proven.batchId);
        }
        (Line[] memory lines, uint256 charged) = SettledRows.charged(paid.settlement, receipt.chargedTo);
        proven.charged = charged.toUint56();
        if (!_hasLine(lines, receipt)) revert NothingCharged(proven.batchId, receipt.chargedTo);
    }

    /// @dev What was shown before of a receipt.
    function _findShown(ShownCharge calldata charge) private view returns (Paid memory proven) {
        proven = _shown[charge.batchId][charge.receipt.leaf(address(router))];
        if (proven.operator == address(0)) revert ReceiptNotInBatch(charge.batchId);
    }

    /// @dev Whether a line that was charged is large enough for the receipt.
    function _hasLine(Line[] memory lines, Receipt calldata receipt) private pure returns (bool) {
        for (uint256 i = 0; i < lines.length; ++i) {
            if (lines[i].toolId == receipt.toolId && lines[i].amount >= receipt.amount) return receipt.amount != 0;
        }
        return false;
    }

    function _sum(Line[] memory lines) private pure returns (uint256 sum) {
        for (uint256 i = 0; i < lines.length; ++i) sum += lines[i].amount;
    }

    function _checkWindow(uint256 deadline) private view {
        if (block.timestamp >= deadline) revert WindowClosed(block.timestamp, deadline);
    }
}
