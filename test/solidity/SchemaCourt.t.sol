// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {ICharges} from "../../contracts/court/interfaces/ICharges.sol";
import {IJsonSchema, Verdict} from "../../contracts/court/interfaces/IJsonSchema.sol";
import {ISchemaCourt} from "../../contracts/court/interfaces/ISchemaCourt.sol";
import {IToolStaking} from "../../contracts/interfaces/IToolStaking.sol";
import {vm} from "./support/Cheats.sol";
import {CredulousCharges, RecordingStakes} from "./support/CourtStage.sol";

/// @notice What convicts a tool, and all that does not.
contract SchemaCourtTest {
    bytes16 private constant TOOL = bytes16(uint128(0xa1));
    bytes16 private constant OTHER_TOOL = bytes16(uint128(0xa2));
    address private constant OWNER = address(0xbeef);
    address private constant REPORTER = address(0xf00d);
    address private constant PAYER = address(0xcafe);
    address private constant OPERATOR = address(0x0b);
    uint256 private constant KEY = 0xa11ce;
    uint256 private constant OTHER_KEY = 0xb0b;
    uint256 private constant NOW = 1_750_000_000;
    uint256 private constant ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;

    bytes private constant SCHEMA = '{"type":"object","required":["price"],"properties":{"price":{"minimum":0}}}';
    bytes private constant BROKEN = '{"price":-1}';
    bytes private constant KEPT = '{"price":1}';

    RecordingStakes private _stakes;
    ISchemaCourt private _court;

    function setUp() public {
        vm.warp(NOW);
        _stakes = new RecordingStakes();
        _stakes.list(TOOL, OWNER);
        _stakes.list(OTHER_TOOL, OWNER);
        _court = _newCourt();
        _register(_court, TOOL, KEY);
        _pin(SCHEMA);
        vm.warp(NOW + 10 days);
    }

    function test_anAnswerThatBreaksItsSchemaConvicts() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        _convict(answer, SCHEMA, BROKEN, signature);
        vm.assertEq(_stakes.takenFrom(TOOL), _court.PENALTY(), "the penalty is taken");
        vm.assertEq(_stakes.creditOf(REPORTER), _court.BOUNTY(), "the reporter has its part");
        vm.assertEq(_court.convictedAt(TOOL, answer.chargeId), _now(), "it is remembered");
    }

    function test_anAnswerThatIsNoJsonConvicts() public {
        bytes memory broken = '{"price":1';
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(broken);
        _convict(answer, SCHEMA, broken, signature);
        vm.assertEq(_stakes.takenFrom(TOOL), _court.PENALTY(), "the penalty is taken");
    }

    function test_nobodyGainsByConvictingAToolOfTheirOwn() public view {
        vm.assertTrue(_court.BOUNTY() < _court.PENALTY(), "half of it is lost");
    }

    function test_anAnswerThatKeepsItsPromiseDoesNot() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(KEPT);
        _refuse(
            answer,
            SCHEMA,
            KEPT,
            signature,
            abi.encodeWithSelector(ISchemaCourt.NotInvalid.selector, Verdict.Valid)
        );
    }

    function test_whatTheCourtDoesNotUnderstandDoesNot() public {
        bytes memory schema = '{"required":["price"],"not":{"pattern":"[a-z]"}}';
        _pin(schema);
        vm.warp(_now() + 2 days);
        bytes memory json = '"abc"';
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signedBy(KEY, _answer(schema, json), _court);
        bytes memory reason = abi.encodeWithSelector(ISchemaCourt.NotInvalid.selector, Verdict.Unknown);
        _refuse(answer, schema, json, signature, reason);
    }

    function test_onceForEachCharge() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        _convict(answer, SCHEMA, BROKEN, signature);
        bytes memory reason = abi.encodeWithSelector(ISchemaCourt.AlreadyConvicted.selector, TOOL, answer.chargeId);
        _refuse(answer, SCHEMA, BROKEN, signature, reason);
        // Another answer to the same call, or the same answer of another minute.
        answer.answeredAt -= 60;
        (answer, signature) = _signedBy(KEY, answer, _court);
        _refuse(answer, SCHEMA, BROKEN, signature, reason);
        vm.assertEq(_stakes.takenFrom(TOOL), _court.PENALTY(), "one penalty");
    }

    function test_aThiefWithAnotherKeyLoses() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signedBy(
            OTHER_KEY,
            _answer(SCHEMA, BROKEN),
            _court
        );
        _refuse(answer, SCHEMA, BROKEN, signature, _keyNotValid(TOOL, OTHER_KEY, answer.answeredAt));
    }

    function test_aThiefWithAnAnswerOfAnotherToolLoses() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        answer.toolId = OTHER_TOOL;
        address recovered = ECDSA.recover(_court.digestOf(answer), signature);
        _refuse(
            answer,
            SCHEMA,
            BROKEN,
            signature,
            abi.encodeWithSelector(ISchemaCourt.KeyNotValid.selector, OTHER_TOOL, recovered, answer.answeredAt)
        );
        // Nor with the key of one tool for another, whose own keys are others.
        answer = _answer(SCHEMA, BROKEN);
        answer.toolId = OTHER_TOOL;
        (answer, signature) = _signedBy(KEY, answer, _court);
        _refuse(answer, SCHEMA, BROKEN, signature, _keyNotValid(OTHER_TOOL, KEY, answer.answeredAt));
    }

    function test_aThiefWhoChangesAnyFieldLoses() public {
        (ISchemaCourt.Answer memory signed, bytes memory signature) = _signed(BROKEN);
        for (uint256 field = 0; field < 4; ++field) {
            ISchemaCourt.Answer memory answer = _answer(SCHEMA, BROKEN);
            if (field == 0) answer.method = "other";
            if (field == 1) answer.chargeId = keccak256("another charge");
            if (field == 2) answer.requestHash = keccak256("another request");
            if (field == 3) answer.answeredAt = signed.answeredAt - 1;
            address recovered = ECDSA.recover(_court.digestOf(answer), signature);
            _refuse(
                answer,
                SCHEMA,
                BROKEN,
                signature,
                abi.encodeWithSelector(ISchemaCourt.KeyNotValid.selector, TOOL, recovered, answer.answeredAt)
            );
        }
    }

    function test_aThiefWithOtherTextsLoses() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(KEPT);
        bytes4 mismatch = ISchemaCourt.HashMismatch.selector;
        bytes memory reason = abi.encodeWithSelector(mismatch, keccak256(BROKEN), keccak256(KEPT));
        _refuse(answer, SCHEMA, BROKEN, signature, reason);
        reason = abi.encodeWithSelector(mismatch, keccak256("false"), keccak256(SCHEMA));
        _refuse(answer, "false", KEPT, signature, reason);
    }

    function test_aThiefOnAnotherChainLoses() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        vm.chainId(84_532);
        address recovered = ECDSA.recover(_court.digestOf(answer), signature);
        bytes4 notValid = ISchemaCourt.KeyNotValid.selector;
        bytes memory reason = abi.encodeWithSelector(notValid, TOOL, recovered, answer.answeredAt);
        _refuse(answer, SCHEMA, BROKEN, signature, reason);
    }

    function test_aThiefInAnotherCourtLoses() public {
        ISchemaCourt other = _newCourt();
        _register(other, TOOL, KEY);
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signedBy(KEY, _answer(SCHEMA, BROKEN), other);
        address recovered = ECDSA.recover(_court.digestOf(answer), signature);
        bytes4 notValid = ISchemaCourt.KeyNotValid.selector;
        bytes memory reason = abi.encodeWithSelector(notValid, TOOL, recovered, answer.answeredAt);
        _refuse(answer, SCHEMA, BROKEN, signature, reason);
    }

    function test_aThiefWithTheTwinOfASignatureLoses() public {
        (ISchemaCourt.Answer memory answer, ) = _signed(BROKEN);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(KEY, _court.digestOf(answer));
        bytes32 twin = bytes32(ORDER - uint256(s));
        bytes memory reason = abi.encodeWithSelector(ECDSA.ECDSAInvalidSignatureS.selector, twin);
        _refuse(answer, SCHEMA, BROKEN, abi.encodePacked(r, twin, v == 27 ? 28 : 27), reason);
        // Nor in the short form of ERC-2098, or with bytes behind it.
        bytes4 length = ECDSA.ECDSAInvalidSignatureLength.selector;
        bytes memory short = abi.encodePacked(r, bytes32(uint256(s) | (uint256(v - 27) << 255)));
        _refuse(answer, SCHEMA, BROKEN, short, abi.encodeWithSelector(length, 64));
        _refuse(answer, SCHEMA, BROKEN, abi.encodePacked(r, s, v, uint8(0)), abi.encodeWithSelector(length, 66));
        _refuse(answer, SCHEMA, BROKEN, "", abi.encodeWithSelector(length, 0));
    }

    function test_aSignatureOfNobodyIsNobodys() public {
        bytes memory reason = abi.encodeWithSelector(ISchemaCourt.InvalidKey.selector, address(0));
        vm.expectRevert(reason);
        vm.prank(OWNER);
        _court.registerKey(TOOL, address(0));
        (ISchemaCourt.Answer memory answer, ) = _signed(BROKEN);
        reason = abi.encodeWithSelector(ECDSA.ECDSAInvalidSignature.selector);
        _refuse(answer, SCHEMA, BROKEN, abi.encodePacked(bytes32(0), bytes32(0), uint8(27)), reason);
    }

    function test_aSchemaThatWasNeverPinnedConvictsNobody() public {
        bytes memory schema = "false";
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signedBy(KEY, _answer(schema, KEPT), _court);
        _refuse(answer, schema, KEPT, signature, _notInForce(answer));
        // Nor does one that is pinned for another method.
        answer = _answer(SCHEMA, BROKEN);
        answer.method = "Quote";
        (answer, signature) = _signedBy(KEY, answer, _court);
        _refuse(answer, SCHEMA, BROKEN, signature, _notInForce(answer));
    }

    function test_anotherSchemaIsInForceAfterADayAndTheFormerUntilThen() public {
        bytes memory strict = '{"type":"string"}';
        uint256 pinnedAt = _now();
        _pin(strict);
        vm.warp(pinnedAt + 1 days + 1);
        ISchemaCourt.Answer memory answer = _answer(strict, KEPT);
        bytes memory signature;
        answer.answeredAt = uint64(pinnedAt + 1 days - 1);
        (answer, signature) = _signedBy(KEY, answer, _court);
        _refuse(answer, strict, KEPT, signature, _notInForce(answer));

        answer.answeredAt = uint64(pinnedAt + 1 days);
        (answer, signature) = _signedBy(KEY, answer, _court);
        _convict(answer, strict, KEPT, signature);

        answer = _answer(SCHEMA, BROKEN);
        answer.chargeId = keccak256("under the former schema");
        answer.answeredAt = uint64(pinnedAt + 1 days);
        (answer, signature) = _signedBy(KEY, answer, _court);
        _refuse(answer, SCHEMA, BROKEN, signature, _notInForce(answer));

        answer.answeredAt = uint64(pinnedAt + 1 days - 1);
        (answer, signature) = _signedBy(KEY, answer, _court);
        vm.warp(answer.answeredAt + 3 days);
        _convict(answer, SCHEMA, BROKEN, signature);
    }

    function test_aPromiseThatWasTakenBackIsNotReplacedAtOnce() public {
        bytes32 other = keccak256("true");
        vm.prank(OWNER);
        _court.pinSchema(TOOL, "quote", 0);
        vm.prank(OWNER);
        _court.pinSchema(TOOL, "quote", other);
        ISchemaCourt.Period memory period = _court.schemaPeriod(TOOL, "quote", other);
        vm.assertEq(period.from, _now() + _court.SCHEMA_DELAY(), "it is public for a day before it is in force");
        period = _court.schemaPeriod(TOOL, "quote", keccak256(SCHEMA));
        vm.assertEq(period.until, _now() + _court.SCHEMA_DELAY(), "and the one before it is in force until then");
    }

    function test_aToolDoesNotEscapeByPinningToAndFro() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        _pin("true");
        _pin(SCHEMA);
        vm.prank(OWNER);
        _court.pinSchema(TOOL, "quote", 0);
        _pin(SCHEMA);
        vm.warp(_now() + 2 days);
        _convict(answer, SCHEMA, BROKEN, signature);
    }

    function test_aToolDoesNotEscapeByRevokingItsKey() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        vm.prank(OWNER);
        _court.revokeKey(TOOL, vm.addr(KEY));
        vm.warp(_now() + 3 days);
        _convict(answer, SCHEMA, BROKEN, signature);
    }

    function test_aToolDoesNotEscapeByRegisteringAKeyAgain() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        vm.prank(OWNER);
        _court.revokeKey(TOOL, vm.addr(KEY));
        vm.warp(_now() + 1 days);
        _register(_court, TOOL, KEY);
        _convict(answer, SCHEMA, BROKEN, signature);
    }

    function test_aThiefWithAnOldKeyLoses() public {
        uint256 revokedAt = _now();
        vm.prank(OWNER);
        _court.revokeKey(TOOL, vm.addr(KEY));
        vm.warp(revokedAt + 2 hours);
        ISchemaCourt.Answer memory answer = _answer(SCHEMA, BROKEN);
        answer.answeredAt = uint64(revokedAt + 1 hours);
        bytes memory signature;
        (answer, signature) = _signedBy(KEY, answer, _court);
        _refuse(answer, SCHEMA, BROKEN, signature, _keyNotValid(TOOL, KEY, answer.answeredAt));
        // What it signs for the hour in which others may still rely on it counts.
        answer.answeredAt = uint64(revokedAt + 1 hours - 1);
        (answer, signature) = _signedBy(KEY, answer, _court);
        _convict(answer, SCHEMA, BROKEN, signature);
    }

    function test_aKeyCountsFromWhenItIsRegistered() public {
        uint256 registeredAt = _now();
        _register(_court, TOOL, OTHER_KEY);
        ISchemaCourt.Answer memory answer = _answer(SCHEMA, BROKEN);
        answer.answeredAt = uint64(registeredAt - 1);
        bytes memory signature;
        (answer, signature) = _signedBy(OTHER_KEY, answer, _court);
        _refuse(answer, SCHEMA, BROKEN, signature, _keyNotValid(TOOL, OTHER_KEY, answer.answeredAt));
    }

    function test_theWindowIsThreeDays() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        vm.warp(answer.answeredAt + 3 days + 1);
        bytes4 outside = ISchemaCourt.OutsideWindow.selector;
        _refuse(answer, SCHEMA, BROKEN, signature, abi.encodeWithSelector(outside, answer.answeredAt, _now()));
        vm.warp(answer.answeredAt - 1);
        _refuse(answer, SCHEMA, BROKEN, signature, abi.encodeWithSelector(outside, answer.answeredAt, _now()));
        vm.warp(answer.answeredAt + 3 days);
        _convict(answer, SCHEMA, BROKEN, signature);
    }

    function test_onlyTheOwnerPinsRegistersAndRevokes() public {
        bytes memory reason = abi.encodeWithSelector(ISchemaCourt.NotOwner.selector, REPORTER, OWNER);
        vm.expectRevert(reason);
        vm.prank(REPORTER);
        _court.registerKey(TOOL, REPORTER);
        vm.expectRevert(reason);
        vm.prank(REPORTER);
        _court.revokeKey(TOOL, vm.addr(KEY));
        vm.expectRevert(reason);
        vm.prank(REPORTER);
        _court.pinSchema(TOOL, "quote", keccak256("false"));
    }

    function test_whatHoldsAndWhenCanBeRead() public {
        ISchemaCourt.Period memory period = _court.keyPeriod(TOOL, vm.addr(KEY));
        vm.assertEq(period.from, NOW, "from when the key counts");
        vm.assertEq(period.until, 0, "without an end");
        period = _court.schemaPeriod(TOOL, "quote", keccak256(SCHEMA));
        vm.assertEq(period.from, NOW, "the first schema holds at once");
        vm.assertTrue(_court.lastSchema(TOOL, "quote") == keccak256(SCHEMA), "it was pinned last");
        _pin("true");
        period = _court.schemaPeriod(TOOL, "quote", keccak256(SCHEMA));
        vm.assertEq(period.until, _now() + 1 days, "until the next one holds");
        vm.assertTrue(_court.lastSchema(TOOL, "quote") == keccak256("true"), "that was pinned last");
    }

    function test_whatHoldsAlreadyOrNotIsRefused() public {
        vm.expectRevert(
            abi.encodeWithSelector(ISchemaCourt.SchemaAlreadyPinned.selector, TOOL, "quote", keccak256(SCHEMA))
        );
        vm.prank(OWNER);
        _court.pinSchema(TOOL, "quote", keccak256(SCHEMA));
        address key = vm.addr(KEY);
        vm.prank(OWNER);
        _court.revokeKey(TOOL, key);
        vm.expectRevert(abi.encodeWithSelector(ISchemaCourt.KeyNotRegistered.selector, TOOL, key));
        vm.prank(OWNER);
        _court.revokeKey(TOOL, key);
    }

    /// @dev However little gas a thief gives, an answer that keeps its promise convicts nobody, and one that breaks it
    /// convicts wholly or not at all.
    function test_aThiefWhoStarvesTheJudgeOfGasLoses() public {
        (ISchemaCourt.Answer memory kept, bytes memory keptSignature) = _signed(KEPT);
        (ISchemaCourt.Answer memory broken, bytes memory brokenSignature) = _signed(BROKEN);
        bool convicted = false;
        for (uint256 gas_ = 20_000; gas_ < 400_000; gas_ += 1_009) {
            bytes memory call = abi.encodeCall(ISchemaCourt.convict, (kept, SCHEMA, KEPT, keptSignature));
            vm.assertTrue(!_tryConvict(call, gas_), "the promise was kept");
            if (convicted) continue;
            convicted = _tryConvict(
                abi.encodeCall(ISchemaCourt.convict, (broken, SCHEMA, BROKEN, brokenSignature)),
                gas_
            );
            vm.assertEq(_stakes.takenFrom(TOOL), convicted ? _court.PENALTY() : 0, "all or nothing");
            uint256 convictedAt = _court.convictedAt(TOOL, broken.chargeId);
            vm.assertEq(convictedAt, convicted ? _now() : 0, "all or nothing");
        }
        vm.assertTrue(convicted, "enough gas convicts");
    }

    function test_aRegistryThatEntersTheCourtAgainGainsNothing() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        _stakes.callBack(address(_court), abi.encodeCall(ISchemaCourt.convict, (answer, SCHEMA, BROKEN, signature)));
        _convict(answer, SCHEMA, BROKEN, signature);
        bytes4 again = ISchemaCourt.AlreadyConvicted.selector;
        bytes memory expected = abi.encodeWithSelector(again, TOOL, answer.chargeId);
        vm.assertTrue(keccak256(_stakes.lastRevert()) == keccak256(expected), "it was refused as a repetition");
        vm.assertEq(_stakes.takenFrom(TOOL), _court.PENALTY(), "one penalty");

        ICharges.PaidCharge memory proof = _paid(answer.chargeId, TOOL, 100_000, 1);
        _stakes.callBack(address(_court), abi.encodeCall(ISchemaCourt.refund, (TOOL, answer.chargeId, proof)));
        _court.refund(TOOL, answer.chargeId, proof);
        vm.assertEq(_stakes.creditOf(PAYER), 100_000, "one refund");
        expected = abi.encodeWithSelector(ISchemaCourt.AlreadyRefunded.selector, TOOL, answer.chargeId);
        vm.assertTrue(keccak256(_stakes.lastRevert()) == keccak256(expected), "the second was refused");
    }

    function test_aRegistryThatCollectsAgainGainsNothing() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        _convict(answer, SCHEMA, BROKEN, signature);
        _stakes.setLeft(40_000);
        _court.refund(TOOL, answer.chargeId, _paid(answer.chargeId, TOOL, 100_000, 1));
        _stakes.setLeft(1e6);
        _stakes.callBack(
            address(_court),
            abi.encodeCall(ISchemaCourt.collect, (TOOL, answer.chargeId, OPERATOR, PAYER))
        );
        _court.collect(TOOL, answer.chargeId, OPERATOR, PAYER);
        vm.assertEq(_stakes.creditOf(PAYER), 100_000, "what was owed, once");
    }

    function test_whatTheStakeCannotPayTodayIsOwed() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        _convict(answer, SCHEMA, BROKEN, signature);
        vm.expectRevert(abi.encodeWithSelector(ISchemaCourt.AlreadyRefunded.selector, TOOL, answer.chargeId));
        _court.collect(TOOL, answer.chargeId, OPERATOR, PAYER);
        _stakes.setLeft(30_000);
        ICharges.PaidCharge memory proof = _paid(answer.chargeId, TOOL, 100_000, 1);
        _court.refund(TOOL, answer.chargeId, proof);
        vm.assertEq(_court.refundOf(TOOL, answer.chargeId, OPERATOR, PAYER).owed, 70_000, "the rest is owed");
        vm.assertTrue(_court.refundOf(TOOL, answer.chargeId, OPERATOR, PAYER).proven != 0, "to who paid");
        vm.expectRevert(abi.encodeWithSelector(ISchemaCourt.AlreadyRefunded.selector, TOOL, answer.chargeId));
        _court.refund(TOOL, answer.chargeId, proof);
        _stakes.setLeft(1e6);
        _court.collect(TOOL, answer.chargeId, OPERATOR, PAYER);
        vm.assertEq(_stakes.creditOf(PAYER), 100_000, "all of it");
        vm.expectRevert(abi.encodeWithSelector(ISchemaCourt.AlreadyRefunded.selector, TOOL, answer.chargeId));
        _court.collect(TOOL, answer.chargeId, OPERATOR, PAYER);
    }

    function test_anotherOperatorsReceiptUsesUpNobodysRefund() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        _convict(answer, SCHEMA, BROKEN, signature);
        ICharges.PaidCharge memory forged = _paid(answer.chargeId, TOOL, 1, 1);
        forged.settlement.operator = address(0xBAD);
        forged.receipt.chargedTo = address(0xBAD);
        _court.refund(TOOL, answer.chargeId, forged);
        _court.refund(TOOL, answer.chargeId, _paid(answer.chargeId, TOOL, 100_000, 1));
        vm.assertEq(_stakes.creditOf(PAYER), 100_000, "who paid has it back");
    }

    function test_whoPaidGetsTheChargeBackOnce() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        bytes32 chargeId = answer.chargeId;
        ICharges.PaidCharge memory proof = _paid(chargeId, TOOL, 100_001, 2);
        vm.expectRevert(abi.encodeWithSelector(ISchemaCourt.NotConvicted.selector, TOOL, chargeId));
        _court.refund(TOOL, chargeId, proof);
        _convict(answer, SCHEMA, BROKEN, signature);
        _court.refund(TOOL, chargeId, proof);
        vm.assertEq(_stakes.creditOf(PAYER), 50_000, "one call of two, rounded down");
        vm.expectRevert(abi.encodeWithSelector(ISchemaCourt.AlreadyRefunded.selector, TOOL, chargeId));
        _court.refund(TOOL, chargeId, proof);
    }

    function test_aProofOfAnotherChargeOrToolRefundsNothing() public {
        (ISchemaCourt.Answer memory answer, bytes memory signature) = _signed(BROKEN);
        _convict(answer, SCHEMA, BROKEN, signature);
        bytes32 other = keccak256("another charge");
        vm.expectRevert(abi.encodeWithSelector(ISchemaCourt.ChargeMismatch.selector, other, TOOL));
        _court.refund(TOOL, answer.chargeId, _paid(other, TOOL, 100_000, 1));
        vm.expectRevert(abi.encodeWithSelector(ISchemaCourt.ChargeMismatch.selector, answer.chargeId, OTHER_TOOL));
        _court.refund(TOOL, answer.chargeId, _paid(answer.chargeId, OTHER_TOOL, 100_000, 1));
    }

    /// @dev What says who paid how much for how many calls; the charges here believe it.
    function _paid(
        bytes32 chargeId,
        bytes16 toolId,
        uint256 amount,
        uint256 calls
    ) private pure returns (ICharges.PaidCharge memory paid) {
        paid.settlement.operator = OPERATOR;
        paid.receipt.chargeId = chargeId;
        paid.receipt.toolId = toolId;
        paid.receipt.chargedTo = PAYER;
        paid.receipt.amount = amount;
        paid.receipt.calls = calls;
    }

    function _newCourt() private returns (ISchemaCourt) {
        IJsonSchema judge = IJsonSchema(_deploy("JsonSchema", ""));
        return ISchemaCourt(_deploy("SchemaCourt", abi.encode(_stakes, judge, new CredulousCharges())));
    }

    function _deploy(string memory name, bytes memory arguments) private returns (address deployed) {
        bytes memory code = bytes.concat(vm.getCode(name), arguments);
        assembly ("memory-safe") {
            deployed := create(0, add(code, 32), mload(code))
        }
        require(deployed != address(0), "not deployed");
    }

    function _register(ISchemaCourt court, bytes16 toolId, uint256 key) private {
        vm.prank(OWNER);
        court.registerKey(toolId, vm.addr(key));
    }

    function _pin(bytes memory schema) private {
        vm.prank(OWNER);
        _court.pinSchema(TOOL, "quote", keccak256(schema));
    }

    function _answer(bytes memory schema, bytes memory json) private view returns (ISchemaCourt.Answer memory) {
        return
            ISchemaCourt.Answer({
                toolId: TOOL,
                method: "quote",
                chargeId: keccak256(abi.encode("charge", json)),
                requestHash: keccak256("request"),
                answerHash: keccak256(json),
                schemaHash: keccak256(schema),
                answeredAt: uint64(_now())
            });
    }

    function _signed(bytes memory json) private view returns (ISchemaCourt.Answer memory, bytes memory) {
        return _signedBy(KEY, _answer(SCHEMA, json), _court);
    }

    function _signedBy(
        uint256 key,
        ISchemaCourt.Answer memory answer,
        ISchemaCourt court
    ) private view returns (ISchemaCourt.Answer memory, bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, court.digestOf(answer));
        return (answer, abi.encodePacked(r, s, v));
    }

    function _convict(
        ISchemaCourt.Answer memory answer,
        bytes memory schema,
        bytes memory json,
        bytes memory signature
    ) private {
        vm.prank(REPORTER);
        _court.convict(answer, schema, json, signature);
    }

    function _tryConvict(bytes memory call, uint256 gas_) private returns (bool succeeded) {
        vm.prank(REPORTER);
        (succeeded, ) = address(_court).call{gas: gas_}(call);
    }

    function _refuse(
        ISchemaCourt.Answer memory answer,
        bytes memory schema,
        bytes memory json,
        bytes memory signature,
        bytes memory reason
    ) private {
        vm.expectRevert(reason);
        vm.prank(REPORTER);
        _court.convict(answer, schema, json, signature);
    }

    function _keyNotValid(bytes16 toolId, uint256 key, uint256 answeredAt) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISchemaCourt.KeyNotValid.selector, toolId, vm.addr(key), answeredAt);
    }

    function _notInForce(ISchemaCourt.Answer memory answer) private pure returns (bytes memory) {
        bytes4 selector = ISchemaCourt.SchemaNotInForce.selector;
        return abi.encodeWithSelector(selector, answer.toolId, answer.schemaHash, answer.answeredAt);
    }

    function _now() private view returns (uint256) {
        return vm.getBlockTimestamp();
    }
}
