// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IBudgets} from "../../contracts/interfaces/IBudgets.sol";
import {vm} from "./support/Cheats.sol";
import {Parties} from "./support/Protocol.sol";
import {ProtocolTest} from "./support/ProtocolTest.sol";
import {Rng} from "./support/Rng.sol";

/// @notice One payer who demands consent, an operator who tries everything, and the plainest program that could judge
/// a budget.
contract BudgetsTest is ProtocolTest {
    /// @dev What a row asks for.
    struct Attempt {
        uint256 amount;
        uint256 tool;
        bool prepaid;
        bool isSigned;
        bool isForged;
        uint256 maxSpend;
        uint256 validUntil;
        /// @dev The tools that the row names: none, the first, the second or both.
        uint256 tools;
    }

    uint256 private constant KEY = 0xB0B;
    uint256 private constant THIEF = 0xBAD;
    uint64 private constant ID = 11;
    uint256 private constant STEPS = 24;
    uint256 private constant FUNDS = 60e6;

    address private _payer;
    bytes16[] private _toolIds;

    /// @dev What the reference knows of the budget.
    uint256 private _maxSpend;
    uint256 private _spent;
    uint256 private _validUntil;
    uint256 private _endsAt;
    uint256 private _tools;

    uint256 private _highestSigned;
    uint256 private _prepaidLeft;
    uint256 private _walletLeft;

    function setUp() public override {
        super.setUp();
        _payer = vm.addr(KEY);
        for (uint256 i = 0; i < 2; ++i) {
            _toolIds.push(list(Parties.developer(i), bytes32(i), 0, Parties.payout(i, 0), 1000e6));
        }
        mint(_payer, 2 * FUNDS);
        approve(_payer, address(router), 2 * FUNDS);
        vm.prank(_payer);
        router.deposit(FUNDS);
        vm.prank(_payer);
        router.setConsentRequired(true);
        (_prepaidLeft, _walletLeft) = (FUNDS, FUNDS);
    }

    /// hardhat-config: fuzz.runs = 150
    function testFuzz_noOperatorTakesMoreThanWasSigned(uint256 seed) public {
        Rng memory rng = Rng(seed);
        bytes32 head;
        for (uint256 step = 0; step < STEPS; ++step) {
            if (rng.happens(15)) vm.warp(vm.getBlockTimestamp() + rng.between(1, 30 hours));
            if (rng.happens(4)) _end();
            Attempt memory attempt = _randomAttempt(rng);
            bytes memory row = _encode(attempt);
            uint256 expected = _expect(attempt);
            bytes32 root = keccak256(abi.encode(step));
            vm.prank(Parties.OPERATOR);
            uint256 charged = router.settle(head, root, _toolIds, row);
            head = root;
            vm.assertEq(charged, expected, "charged as the reference says");
            _compare();
        }
        vm.assertLe(2 * FUNDS - _walletLeft - _prepaidLeft, _highestSigned, "never more than the payer signed");
    }

    function _randomAttempt(Rng memory rng) private view returns (Attempt memory attempt) {
        attempt.amount = rng.between(1, 8e6);
        attempt.tool = rng.between(0, 1);
        attempt.prepaid = rng.happens(50);
        attempt.isSigned = rng.happens(60);
        attempt.isForged = rng.happens(15);
        attempt.maxSpend = rng.between(1, 100e6);
        attempt.validUntil = vm.getBlockTimestamp() + rng.between(0, 3 days) - 3 hours;
        attempt.tools = rng.happens(60) ? 0 : rng.between(1, 3);
    }

    /// @dev The most that can be taken by this row, all of its amount or nothing.
    function _expect(Attempt memory attempt) private returns (uint256) {
        bool isNewer = attempt.isSigned && attempt.maxSpend > _maxSpend;
        if (isNewer) {
            if (attempt.isForged) return 0;
            _maxSpend = attempt.maxSpend;
            _validUntil = attempt.validUntil;
            _tools = attempt.tools;
            _highestSigned = attempt.maxSpend;
        }
        bool isAllowed = _allows(_maxSpend, _validUntil, _tools, attempt);
        // The newest signature takes back nothing that an older one, which the row brings again, allows.
        if (!isAllowed && !isNewer && attempt.isSigned && !attempt.isForged) {
            isAllowed = _allows(attempt.maxSpend, attempt.validUntil, attempt.tools, attempt);
        }
        if (!isAllowed) return 0;
        if (attempt.prepaid) {
            if (attempt.amount > _prepaidLeft) return 0;
            _prepaidLeft -= attempt.amount;
        } else {
            if (attempt.amount > _walletLeft) return 0;
            _walletLeft -= attempt.amount;
        }
        _spent += attempt.amount;
        return attempt.amount;
    }

    /// @dev Whether these terms allow a row. What was spent under any signature counts, and the payer's end ends all.
    function _allows(
        uint256 maxSpend,
        uint256 validUntil,
        uint256 tools,
        Attempt memory attempt
    ) private view returns (bool) {
        if (_spent + attempt.amount > maxSpend) return false;
        if (vm.getBlockTimestamp() > validUntil) return false;
        if (_endsAt != 0 && vm.getBlockTimestamp() > _endsAt) return false;
        return tools == 0 || (attempt.tools == tools && tools & (1 << attempt.tool) != 0);
    }

    function _compare() private view {
        (IBudgets.Budget memory budget, ) = router.budgetOf(_payer, ID);
        vm.assertEq(budget.maxSpend, _maxSpend, "the limit");
        vm.assertEq(budget.spent, _spent, "what was spent");
        vm.assertEq(budget.validUntil, _validUntil, "until when");
        vm.assertEq(budget.endsAt, _endsAt, "when it was ended");
        vm.assertTrue(budget.isForTools == (_tools != 0), "whether it is for some tools");
        vm.assertLe(budget.spent, budget.maxSpend, "never more than the limit");
        vm.assertEq(router.prepaidOf(_payer).balance, _prepaidLeft, "the prepaid balance");
        vm.assertEq(usdc.balanceOf(_payer), _walletLeft, "the wallet");
    }

    function _end() private {
        if (_endsAt != 0) return;
        _endsAt = vm.getBlockTimestamp() + 1 days;
        vm.prank(_payer);
        router.endBudget(ID);
    }

    function _encode(Attempt memory attempt) private view returns (bytes memory) {
        bytes16[] memory tools = _toolsOf(attempt.tools);
        uint8 flags = 2;
        if (attempt.prepaid) flags |= 1;
        if (attempt.isSigned) flags |= 4;
        if (tools.length != 0) flags |= 8;
        bytes memory named;
        if (tools.length != 0) named = abi.encodePacked(uint8(tools.length));
        for (uint256 i = 0; i < tools.length; ++i) named = abi.encodePacked(named, tools[i]);
        bytes memory signed;
        if (attempt.isSigned) {
            signed = abi.encodePacked(uint48(attempt.maxSpend), uint40(attempt.validUntil), uint16(65));
            signed = bytes.concat(signed, _sign(attempt, tools));
        }
        bytes memory head = abi.encodePacked(_payer, flags, uint48(0), uint8(1), ID);
        return bytes.concat(head, named, signed, abi.encodePacked(uint48(attempt.amount), uint8(attempt.tool)));
    }

    function _sign(Attempt memory attempt, bytes16[] memory tools) private view returns (bytes memory) {
        bytes32 digest = router.budgetDigest(_payer, ID, attempt.maxSpend, attempt.validUntil, tools);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(attempt.isForged ? THIEF : KEY, digest);
        return abi.encodePacked(r, s, v);
    }

    function _toolsOf(uint256 mask) private view returns (bytes16[] memory tools) {
        tools = new bytes16[]((mask & 1) + (mask >> 1));
        if (tools.length == 0) return tools;
        tools[0] = _toolIds[mask & 1 == 1 ? 0 : 1];
        if (tools.length == 2) tools[1] = _toolIds[1];
    }
}
