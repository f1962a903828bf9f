// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IToolStaking} from "../interfaces/IToolStaking.sol";
import {Periods} from "./Periods.sol";
import {ICharges} from "./interfaces/ICharges.sol";
import {IJsonSchema, Verdict} from "./interfaces/IJsonSchema.sol";
import {IPenalties} from "./interfaces/IPenalties.sol";
import {ISchemaCourt} from "./interfaces/ISchemaCourt.sol";

/// @title SchemaCourt
/// @notice See ISchemaCourt.
contract SchemaCourt is ISchemaCourt {
    using Periods for Period;
    using SafeCast for uint256;

    /// @inheritdoc ISchemaCourt
    uint256 public constant ANSWER_WINDOW = 3 days;

    /// @inheritdoc ISchemaCourt
    uint256 public constant KEY_DELAY = 1 hours;

    /// @inheritdoc ISchemaCourt
    uint256 public constant SCHEMA_DELAY = 1 days;

    /// @inheritdoc ISchemaCourt
    uint256 public constant PENALTY = 1e6;

    /// @inheritdoc ISchemaCourt
    uint256 public constant BOUNTY = 0.5e6;

    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant NAME_HASH = keccak256("SchemaCourt");
    bytes32 private constant VERSION_HASH = keccak256("1");

    bytes32 private constant ANSWER_TYPEHASH = keccak256(
        "Answer(bytes16 toolId,string method,bytes32 chargeId,bytes32 requestHash,bytes32 answerHash,"
        "bytes32 schemaHash,uint64 answeredAt)"
    );

    /// @inheritdoc ISchemaCourt
    IToolStaking public immutable staking;

    /// @inheritdoc ISchemaCourt
    IJsonSchema public immutable judge;

    /// @inheritdoc ISchemaCourt
    ICharges public immutable charges;

    mapping(bytes16 toolId => mapping(address key => Period)) private _keys;
    mapping(bytes16 toolId => mapping(bytes32 methodHash => mapping(bytes32 schemaHash => Period))) private _schemas;
    mapping(bytes16 toolId => mapping(bytes32 methodHash => bytes32 schemaHash)) private _lastSchemas;
    mapping(bytes16 toolId => mapping(bytes32 methodHash => bool)) private _hasPromised;
    mapping(bytes16 toolId => mapping(bytes32 chargeId => uint256 timestamp)) private _convictions;

    /// @dev For each operator and payer one, so that whoever writes the id of a charge into another receipt, for a
    /// wallet of its own, uses up nothing.
    mapping(bytes16 tool => mapping(bytes32 chargeId => mapping(address operator => mapping(address payer => Refund))))
        private _refunds;

    modifier onlyOwner(bytes16 toolId) {
        address owner = staking.tool(toolId).owner;
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
        _;
    }

    /// @param staking_ The registry of tools, which lets this court take penalties.
    /// @param judge_ Who reads schemas and answers.
    /// @param charges_ Who knows what was charged.
    constructor(IToolStaking staking_, IJsonSchema judge_, ICharges charges_) {
        staking = staking_;
        judge = judge_;
        charges = charges_;
    }

    /// @inheritdoc ISchemaCourt
    function registerKey(bytes16 toolId, address key) external onlyOwner(toolId) {
        if (key == address(0)) revert InvalidKey(key);
        _keys[toolId][key].begin(block.timestamp);
        emit KeyRegistered(toolId, key);
    }

    /// @inheritdoc ISchemaCourt
    function revokeKey(bytes16 toolId, address key) external onlyOwner(toolId) {
        Period storage period = _keys[toolId][key];
        if (period.from == 0 || period.until != 0) revert KeyNotRegistered(toolId, key);
        uint256 until = block.timestamp + KEY_DELAY;
        period.end(until);
        emit KeyRevoked(toolId, key, until);
    }

    /// @inheritdoc ISchemaCourt
    function pinSchema(bytes16 toolId, string calldata method, bytes32 schemaHash) external onlyOwner(toolId) {
        bytes32 methodHash = keccak256(bytes(method));
        bytes32 former = _lastSchemas[toolId][methodHash];
        if (schemaHash == former) revert SchemaAlreadyPinned(toolId, method, schemaHash);
        // Whoever takes a promise back and gives another one changes it, too.
        uint256 from = block.timestamp + (_hasPromised[toolId][methodHash] ? SCHEMA_DELAY : 0);
        _hasPromised[toolId][methodHash] = true;
        if (former != 0) _schemas[toolId][methodHash][former].end(from);
        _lastSchemas[toolId][methodHash] = schemaHash;
        if (schemaHash != 0) _schemas[toolId][methodHash][schemaHash].begin(from);
        emit SchemaPinned(toolId, method, schemaHash, from);
    }

    /// @inheritdoc ISchemaCourt
    function convict(
        Answer calldata answer,
        bytes calldata schema,
        bytes calldata json,
        bytes calldata signature
    ) external {
        _checkText(schema, answer.schemaHash);
        _checkText(json, answer.answerHash);
        _checkSigned(answer, signature);
        if (convictedAt(answer.toolId, answer.chargeId) != 0) revert AlreadyConvicted(answer.toolId, answer.chargeId);
        _convictions[answer.toolId][answer.chargeId] = block.timestamp;

        // A judge that runs out of gas answers nothing, and then nothing of this has happened.
        (Verdict verdict, uint256 schemaOffset, uint256 jsonOffset) = judge.validate(schema, json);
        if (verdict != Verdict.Invalid) revert NotInvalid(verdict);
        emit Convicted(
            answer.toolId,
            answer.chargeId,
            msg.sender,
            answer.method,
            answer.answerHash,
            schemaOffset,
            jsonOffset
        );
        _penalize(answer.toolId);
    }

    /// @inheritdoc ISchemaCourt
    function refund(bytes16 toolId, bytes32 chargeId, ICharges.PaidCharge calldata paid) external {
        if (convictedAt(toolId, chargeId) == 0) revert NotConvicted(toolId, chargeId);
        ICharges.Receipt calldata receipt = paid.receipt;
        if (receipt.chargeId != chargeId || receipt.toolId != toolId) {
            revert ChargeMismatch(receipt.chargeId, receipt.toolId);
        }
        address operator = paid.settlement.operator;
        // Of a charge for several calls one was proven wrong.
        (address payer, uint256 amount) = charges.noteRefund(paid);
        Refund storage due = _refunds[toolId][chargeId][operator][payer];
        // Whoever has the operator's key can write a receipt of next to nothing for the same charge, and show that
        // first: it uses up nothing of the larger one.
        uint256 more = Math.saturatingSub(amount, due.proven);
        if (more == 0) revert AlreadyRefunded(toolId, chargeId);
        (due.proven, due.owed) = (amount.toUint64(), (due.owed + more).toUint64());
        collect(toolId, chargeId, operator, payer);
    }

    /// @inheritdoc ISchemaCourt
    function collect(bytes16 toolId, bytes32 chargeId, address operator, address payer) public {
        Refund storage due = _refunds[toolId][chargeId][operator][payer];
        uint256 owed = due.owed;
        if (owed == 0) revert AlreadyRefunded(toolId, chargeId);
        // Nothing is owed while somebody else is called.
        due.owed = 0;
        uint256 amount = IPenalties(address(staking)).compensate(toolId, owed, payer);
        due.owed = (owed - amount).toUint64();
        emit ChargeRefunded(toolId, chargeId, payer, amount, owed - amount);
    }

    /// @inheritdoc ISchemaCourt
    function keyPeriod(bytes16 toolId, address key) external view returns (Period memory) {
        return _keys[toolId][key];
    }

    /// @inheritdoc ISchemaCourt
    function schemaPeriod(
        bytes16 toolId,
        string calldata method,
        bytes32 schemaHash
    ) external view returns (Period memory) {
        return _schemas[toolId][keccak256(bytes(method))][schemaHash];
    }

    /// @inheritdoc ISchemaCourt
    function lastSchema(bytes16 toolId, string calldata method) external view returns (bytes32 schemaHash) {
        return _lastSchemas[toolId][keccak256(bytes(method))];
    }

    /// @inheritdoc ISchemaCourt
    function convictedAt(bytes16 toolId, bytes32 chargeId) public view returns (uint256 timestamp) {
        return _convictions[toolId][chargeId];
    }

    /// @inheritdoc ISchemaCourt
    function refundOf(
        bytes16 toolId,
        bytes32 chargeId,
        address operator,
        address payer
    ) external view returns (Refund memory) {
        return _refunds[toolId][chargeId][operator][payer];
    }

    /// @inheritdoc ISchemaCourt
    function digestOf(Answer calldata answer) public view returns (bytes32) {
        // The domain is computed each time: kept as immutable values, it would make the code depend on its address, and
        // nobody could build it again and compare.
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this)));
        bytes32 signed = keccak256(
            abi.encode(
                ANSWER_TYPEHASH,
                answer.toolId,
                keccak256(bytes(answer.method)),
                answer.chargeId,
                answer.requestHash,
                answer.answerHash,
                answer.schemaHash,
                answer.answeredAt
            )
        );
        return MessageHashUtils.toTypedDataHash(domain, signed);
    }

    /// @dev Takes the penalty, or what of it the registry allows today. A tool that has lost that much is convicted all
    /// the same: otherwise it would convict itself first, of calls that nobody made, until the answers that it gave to
    /// others are too old to be shown. The reporter's part is rounded down, in favour of the insurance account.
    function _penalize(bytes16 toolId) private {
        IPenalties stakes = IPenalties(address(staking));
        uint256 amount = Math.min(PENALTY, stakes.penaltyLeft(toolId));
        stakes.penalize(toolId, amount, msg.sender, (amount * BOUNTY) / PENALTY);
    }

    /// @dev Who signed, when, and what was promised then.
    function _checkSigned(Answer calldata answer, bytes calldata signature) private view {
        uint256 answeredAt = answer.answeredAt;
        if (answeredAt > block.timestamp || block.timestamp - answeredAt > ANSWER_WINDOW) {
            revert OutsideWindow(answeredAt, block.timestamp);
        }
        // Reverts for all but the one form that a signature has.
        address key = ECDSA.recover(digestOf(answer), signature);
        if (!_keys[answer.toolId][key].covers(answeredAt)) revert KeyNotValid(answer.toolId, key, answeredAt);
        Period storage promised = _schemas[answer.toolId][keccak256(bytes(answer.method))][answer.schemaHash];
        if (!promised.covers(answeredAt)) revert SchemaNotInForce(answer.toolId, answer.schemaHash, answeredAt);
    }

    function _checkText(bytes calldata text, bytes32 signed) private pure {
        bytes32 given = keccak256(text);
        if (given != signed) revert HashMismatch(given, signed);
    }
}
