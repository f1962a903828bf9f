// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {IContextRouter} from "../../interfaces/IContextRouter.sol";
import {IOperatorBonds} from "../../interfaces/IOperatorBonds.sol";
import {ICharges} from "./ICharges.sol";

/// @title ReceiptCourt: what an operator charged twice, or cannot show receipts for, is given back
/// @notice The router binds what a batch asked for and what was not charged of it; the batch's root binds its receipts.
/// From both anybody can show here what an operator did. Nobody has a say in it, and nobody can stop it.
///
/// - *Charged twice*: two receipts of one charge under batches of one operator, both of them paid. The payer gets the
///   later one back from the operator's bond, and whoever proved it a premium. If the receipts had to be contested to
///   be seen, the deposits come back with it.
/// - *Charged without receipts*: a payer, or anybody for it, contests what it paid in a batch, with a deposit. The
///   operator, or anybody for it, shows receipts of that payer in that batch which add up to every line of its row;
///   then the deposit is the operator's. If nobody has in `ANSWER_WINDOW`, the payer gets all of the row back, and the
///   deposit goes back.
///
/// Nothing is given back twice: what this court or another one has given back of a row, or a proof has accounted for,
/// is taken off what a row without receipts gives back.
///
/// Whatever a bond pays beyond what was charged, a premium or a deposit, it pays again to the insurance account, so
/// that an operator who accuses itself to have its bond back loses by it.
///
/// A bond pays as long as it lasts. What it cannot pay is owed, and can be collected when the operator adds to it. All
/// money is credited in `bonds`.
interface IReceiptCourt is ICharges {
    /// @notice What of a row was charged.
    /// @param toolId For which tool; zero for the model.
    /// @param amount How much, or how much of it no receipt was shown for yet.
    struct Line {
        bytes16 toolId;
        uint256 amount;
    }

    /// @notice Receipts that are shown for a contested row. A row with more receipts than fit into a transaction is
    /// answered in several, all by one account. Whoever names all of the lines begins, or begins again.
    /// @param lines What the caller has still to show, as its last event said: first the model, then the row's lines.
    /// @param receipts In ascending order of their leaves, across all answers of the caller.
    /// @param places Which of the lines each is for.
    /// @param proof The siblings of the multiproof.
    /// @param proofFlags Which of them are siblings and which computed, as OpenZeppelin's MerkleProof wants them.
    struct Answer {
        Line[] lines;
        Receipt[] receipts;
        uint8[] places;
        bytes32[] proof;
        bool[] proofFlags;
    }

    /// @notice A charge that `showPaid` was shown before.
    struct ShownCharge {
        bytes32 batchId;
        Receipt receipt;
    }

    enum Stage {
        None,
        Contested,
        Answered,
        Refunded
    }

    /// @notice What became of a payer's row.
    /// @param operator Who charged it; zero unless it was contested.
    /// @param until Until when the operator can answer.
    /// @param stage Where it stands.
    /// @param contester Who contested it.
    /// @param charged What the payer paid.
    /// @param accounted What was given back of the row, or was proven to be rightly charged in another proceeding.
    struct Contest {
        address operator;
        uint40 until;
        Stage stage;
        address contester;
        uint64 charged;
        uint64 accounted;
    }

    /// @notice How far somebody has come with showing receipts for a row.
    /// @param linesHash The hash of the lines that it has still to show; zero before it has shown any.
    /// @param lastLeaf The leaf of the receipt that it showed last.
    struct Progress {
        bytes32 linesHash;
        bytes32 lastLeaf;
    }

    /// @notice A row is contested. The operator shows receipts for these lines before `until`.
    event Contested(
        bytes32 indexed batchId,
        address indexed payer,
        address indexed operator,
        address contester,
        uint256 charged,
        uint256 until,
        Line[] lines
    );

    /// @notice `answerer` has shown receipts, and these lines are left to it.
    event ReceiptsShown(bytes32 indexed batchId, address indexed payer, address indexed answerer, Line[] lines);

    /// @notice There are receipts for all of the row.
    event Answered(bytes32 indexed batchId, address indexed payer, address indexed operator);

    /// @notice The payer of a row without receipts was credited `amount`; `owed` is what the bond could not pay.
    event RowRefunded(
        bytes32 indexed batchId,
        address indexed payer,
        address indexed operator,
        uint256 amount,
        uint256 owed
    );

    /// @notice A charge was paid twice. Its payer in the batch `batchId` was credited `amount`, and `prover` got
    /// `premium`.
    event DoubleChargeProven(
        bytes32 indexed chargeId,
        address indexed payer,
        address indexed operator,
        bytes32 batchId,
        address prover,
        uint256 amount,
        uint256 premium
    );

    /// @notice Another court gives `amount` of a charge back.
    event RefundNoted(bytes32 indexed chargeId, address indexed payer, bytes32 batchId, uint256 amount);

    /// @notice No batch was settled in this way.
    error NotSettled(bytes32 batchId);

    /// @notice Nothing was taken from the payer in this batch, or nothing for this.
    error NothingCharged(bytes32 batchId, address payer);

    /// @notice The receipts are not in the batch.
    error ReceiptNotInBatch(bytes32 batchId);

    /// @notice It is too late, since `deadline`.
    error WindowClosed(uint256 timestamp, uint256 deadline);

    /// @notice The operator can answer until `deadline`.
    error WindowOpen(uint256 timestamp, uint256 deadline);

    error AlreadyContested(bytes32 batchId, address payer);
    error NotContested(bytes32 batchId, address payer);

    /// @notice The lines are neither all of the row's nor what the caller has still to show.
    error LinesMismatch(bytes32 batchId, address payer);

    /// @notice The receipt is of another account, or for another tool than the line.
    error ReceiptMismatch(bytes32 chargeId);

    /// @notice The receipts are not in ascending order of their leaves, so that one could be shown twice.
    error ReceiptsOutOfOrder(bytes32 chargeId);

    /// @notice The proof has `nodes` nodes; at most `max` are allowed. Fewer receipts at a time need fewer.
    error ProofTooLong(uint256 nodes, uint256 max);

    /// @notice The receipt is for more than is left of the line.
    error ReceiptExceedsLine(bytes32 chargeId, uint256 amount, uint256 left);

    /// @notice The two are no double charge: of two charges, two operators, or one and the same.
    error NotDouble(bytes32 chargeId, bytes32 otherChargeId);

    /// @notice It was given back before.
    error AlreadyRefunded(bytes32 batchId, address payer);

    /// @notice How long after its settlement a row can be contested.
    function CONTEST_WINDOW() external view returns (uint256);

    /// @notice How long the operator has to answer.
    function ANSWER_WINDOW() external view returns (uint256);

    /// @notice How long after the later settlement a double charge can be proven: longer than it takes to have the
    /// receipts shown.
    function PROOF_WINDOW() external view returns (uint256);

    /// @notice What a contest costs whoever contests a row that has receipts, in micro-USDC.
    function DEPOSIT() external view returns (uint256);

    /// @notice What whoever proves a double charge gets, in micro-USDC: this, and no more than the payer gets back. The
    /// insurance account gets as much.
    function PREMIUM() external view returns (uint256);

    /// @notice Who settles batches.
    function router() external view returns (IContextRouter);

    /// @notice Where the bonds are, and what is credited.
    function bonds() external view returns (IOperatorBonds);

    /// @notice What became of what `payer` paid in a batch.
    function contestOf(bytes32 batchId, address payer) external view returns (Contest memory);

    /// @notice How far `answerer` has come with showing receipts for what `payer` paid in a batch.
    function progressOf(bytes32 batchId, address payer, address answerer) external view returns (Progress memory);

    /// @notice The leaf of a receipt of this chain and router.
    function leafOf(Receipt calldata receipt) external view returns (bytes32);

    /// @notice What `payer` paid in a batch: first for the model, then line by line, zero where a line was refused.
    function chargedIn(
        Settlement calldata settlement,
        address payer
    ) external view returns (bytes32 batchId, Line[] memory lines, uint256 charged);

    /// @notice Gives a charge that was paid twice back to whoever paid it in the second batch, which was settled after
    /// the first or with it, and to whoever contested either of the two what it has lost by that.
    function proveDoubleCharge(PaidCharge calldata first, PaidCharge calldata second) external;

    /// @notice Remembers that a charge was paid. Two batches that are too large for one transaction are shown in two,
    /// and `proveShownTwice` does the rest.
    function showPaid(PaidCharge calldata paid) external;

    /// @notice Does what `proveDoubleCharge` does for two charges that `showPaid` was shown before.
    function proveShownTwice(ShownCharge calldata first, ShownCharge calldata second) external;

    /// @notice Demands receipts for what `payer` paid in a batch. The caller has approved the deposit to `bonds`.
    function contest(Settlement calldata settlement, address payer) external;

    /// @notice Shows receipts for a contested row. Anybody may; the deposit is the operator's, unless they have proven
    /// that it charged twice.
    function answer(bytes32 batchId, address payer, Answer calldata shown) external;

    /// @notice Gives a row for which no receipts came in time back, or what the bond could not pay before.
    function refund(bytes32 batchId, address payer) external returns (uint256 amount);
}
