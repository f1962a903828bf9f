// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {IToolStaking} from "../../interfaces/IToolStaking.sol";
import {ICharges} from "./ICharges.sol";
import {IJsonSchema, Verdict} from "./IJsonSchema.sol";

/// @title SchemaCourt: a tool that breaks its promise is convicted by its own signature
/// @notice A tool's owner pins the schema of each method and registers the keys that sign its answers. Whoever holds a
/// signed answer that does not match the schema shows schema, answer and signature; the court reads all three itself.
/// Nobody has a say in it, no operator, no guardian and no admin.
///
/// What a conviction costs is a fixed penalty out of the tool's stake, of which the reporter gets a part, and the
/// charge itself, which goes back to whoever paid it. A stake that may pay less today pays that, and owes the charge.
/// It happens once for each charge, and at most `ANSWER_WINDOW` after the answer, which is shorter than a stake needs
/// to leave.
///
/// The time in an answer is what the tool says. Whoever takes a signed answer must see that it is about now, that the
/// key is registered and the schema pinned; an answer from another time may not convict.
interface ISchemaCourt {
    /// @notice What a tool signs, as EIP-712 typed data under the domain `SchemaCourt`, version 1, with the chain's id
    /// and this contract's address.
    /// @param toolId The tool.
    /// @param method The method that was called.
    /// @param chargeId The charge that the call belongs to.
    /// @param requestHash The hash of what was asked.
    /// @param answerHash The hash of the answer, a JSON text.
    /// @param schemaHash The hash of the schema that the answer is to match, a JSON text.
    /// @param answeredAt When it was answered, in seconds.
    struct Answer {
        bytes16 toolId;
        string method;
        bytes32 chargeId;
        bytes32 requestHash;
        bytes32 answerHash;
        bytes32 schemaHash;
        uint64 answeredAt;
    }

    /// @notice When something holds.
    /// @param from From when on; zero if it never did.
    /// @param until Until when; zero while it has no end.
    struct Period {
        uint40 from;
        uint40 until;
    }

    /// @notice What a payer gets back of a charge for which the tool was convicted.
    /// @param proven What the call has cost, as far as somebody has proven that it was paid, in micro-USDC.
    /// @param owed What the payer has not got yet, in micro-USDC.
    struct Refund {
        uint64 proven;
        uint64 owed;
    }

    /// @notice The answers of `method` are to match the schema with this hash from `from` on, and any other until
    /// then.
    event SchemaPinned(bytes16 indexed toolId, string method, bytes32 indexed schemaHash, uint256 from);

    event KeyRegistered(bytes16 indexed toolId, address indexed key);

    /// @notice What `key` signs counts until `until`.
    event KeyRevoked(bytes16 indexed toolId, address indexed key, uint256 until);

    /// @notice A tool's answer did not match its schema: the value that begins at the byte `jsonOffset` of the answer
    /// fails the keyword that begins at the byte `schemaOffset` of the schema.
    event Convicted(
        bytes16 indexed toolId,
        bytes32 indexed chargeId,
        address indexed reporter,
        string method,
        bytes32 answerHash,
        uint256 schemaOffset,
        uint256 jsonOffset
    );

    /// @notice A payer was credited `amount` of what a convicted tool had charged; `owed` is what its stake could not
    /// pay today.
    event ChargeRefunded(
        bytes16 indexed toolId,
        bytes32 indexed chargeId,
        address indexed payer,
        uint256 amount,
        uint256 owed
    );

    error NotOwner(address caller, address owner);
    error InvalidKey(address key);
    error KeyNotRegistered(bytes16 toolId, address key);
    error SchemaAlreadyPinned(bytes16 toolId, string method, bytes32 schemaHash);

    /// @notice The text is not the one that was signed.
    error HashMismatch(bytes32 given, bytes32 signed);

    /// @notice The answer is from the future, or too old.
    error OutsideWindow(uint256 answeredAt, uint256 timestamp);

    /// @notice The key did not count when the answer was given, or never did.
    error KeyNotValid(bytes16 toolId, address key, uint256 answeredAt);

    /// @notice The schema was not in force when the answer was given, or never was.
    error SchemaNotInForce(bytes16 toolId, bytes32 schemaHash, uint256 answeredAt);

    error AlreadyConvicted(bytes16 toolId, bytes32 chargeId);
    error NotConvicted(bytes16 toolId, bytes32 chargeId);

    /// @notice The answer matches the schema, or nobody here can tell.
    error NotInvalid(Verdict verdict);

    error AlreadyRefunded(bytes16 toolId, bytes32 chargeId);

    /// @notice The proof is about another charge or another tool.
    error ChargeMismatch(bytes32 chargeId, bytes16 toolId);

    /// @notice How long after an answer it can be shown.
    function ANSWER_WINDOW() external view returns (uint256);

    /// @notice How long after a revocation a key still counts, so that whoever has looked it up before can rely on it.
    function KEY_DELAY() external view returns (uint256);

    /// @notice How long another schema of a method is public before it is in force.
    function SCHEMA_DELAY() external view returns (uint256);

    /// @notice What a conviction takes out of the stake, or as much of it as can be taken today, in micro-USDC.
    function PENALTY() external view returns (uint256);

    /// @notice What of the penalty goes to the reporter, in micro-USDC, and of less in proportion. It is half, so that
    /// nobody gains by convicting a tool of their own.
    function BOUNTY() external view returns (uint256);

    /// @notice The registry of tools, which keeps their stakes.
    function staking() external view returns (IToolStaking);

    /// @notice Who reads schemas and answers.
    function judge() external view returns (IJsonSchema);

    /// @notice Who knows what was charged.
    function charges() external view returns (ICharges);

    /// @notice When a key's signatures count for a tool.
    function keyPeriod(bytes16 toolId, address key) external view returns (Period memory);

    /// @notice When a schema is in force for a method.
    function schemaPeriod(
        bytes16 toolId,
        string calldata method,
        bytes32 schemaHash
    ) external view returns (Period memory);

    /// @notice The schema that was pinned last for a method; zero for none. `schemaPeriod` says from when on it holds.
    function lastSchema(bytes16 toolId, string calldata method) external view returns (bytes32 schemaHash);

    /// @notice When the tool was convicted for a charge; zero if it was not.
    function convictedAt(bytes16 toolId, bytes32 chargeId) external view returns (uint256 timestamp);

    /// @notice What became of a charge that `payer` paid to `operator` and for which the tool was convicted.
    function refundOf(
        bytes16 toolId,
        bytes32 chargeId,
        address operator,
        address payer
    ) external view returns (Refund memory);

    /// @notice The hash that a tool signs for an answer.
    function digestOf(Answer calldata answer) external view returns (bytes32);

    /// @notice Lets `key` sign the tool's answers from now on, and takes back its revocation. Only a plain key can:
    /// what a contract says about a signature today, it may deny tomorrow.
    function registerKey(bytes16 toolId, address key) external;

    /// @notice Ends what `key` may sign, after `KEY_DELAY`. What it has signed for until then stays provable.
    function revokeKey(bytes16 toolId, address key) external;

    /// @notice Pins the schema of a method by the hash of its text: at once if it is the method's first, otherwise
    /// after `SCHEMA_DELAY`, until when the one before stays in force. Zero ends what the method promises. Answers
    /// given under a former schema stay provable.
    function pinSchema(bytes16 toolId, string calldata method, bytes32 schemaHash) external;

    /// @notice Convicts a tool of an answer that does not match its schema. Anybody may; the caller gets its part of
    /// what the stake pays today.
    /// @param answer What the tool signed.
    /// @param schema The text of the schema.
    /// @param json The text of the answer.
    /// @param signature The tool's signature, of 65 bytes.
    function convict(
        Answer calldata answer,
        bytes calldata schema,
        bytes calldata json,
        bytes calldata signature
    ) external;

    /// @notice Gives a charge for which the tool was convicted back to whoever paid it, out of the stake, once for each
    /// operator that charged it and each payer. Anybody may. What the stake may not pay today is owed. If there are
    /// receipts of different amounts for it, what the largest says is given back, in whatever order they are shown.
    /// @param paid That it was paid.
    function refund(bytes16 toolId, bytes32 chargeId, ICharges.PaidCharge calldata paid) external;

    /// @notice Gives a payer what is still owed for a charge that `operator` settled. Anybody may.
    function collect(bytes16 toolId, bytes32 chargeId, address operator, address payer) external;
}
