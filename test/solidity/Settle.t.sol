// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IContextRouter} from "../../contracts/interfaces/IContextRouter.sol";
import {Tallies} from "../../contracts/libraries/Tallies.sol";
import {vm} from "./support/Cheats.sol";
import {Dice} from "./support/Dice.sol";
import {Parties} from "./support/Protocol.sol";
import {ProtocolTest} from "./support/ProtocolTest.sol";
import {Line, Row, Rows} from "./support/Rows.sol";

/// @notice Random batches over random markets, settled by the router and by the plainest program that could do it.
contract SettleTest is ProtocolTest {
    /// @dev What the reference knows of a payer.
    struct Wallet {
        uint256 balance;
        uint256 allowance;
        uint256 dailyCapLeft;
        bool blacklisted;
        uint256 paid;
    }

    uint256 private constant PAYERS = 5;
    uint256 private constant TOOLS = 5;
    uint256 private constant MAX_AMOUNT = 50e6;
    bytes32 private constant ROOT = keccak256("receipts");

    bytes16[] private _toolIds;
    bool[] private _payable;

    /// hardhat-config: fuzz.runs = 200
    function testFuzz_aBatchChargesAndCreditsAsTheReferenceDoes(uint256 seed) public {
        Dice memory dice = Dice(seed);
        _stageTools(dice);
        Wallet[] memory wallets = _stagePayers(dice);
        Row[] memory rows = _rollRows(dice);

        vm.prank(Parties.OPERATOR);
        uint256 charged = router.settle(ROOT, _toolIds, Rows.encode(rows));

        (uint256[] memory earned, uint256 modelCosts) = _settleByReference(wallets, rows);
        uint256 total = modelCosts;
        uint256 treasuryShare = modelCosts;
        for (uint256 i = 0; i < TOOLS; ++i) {
            total += earned[i];
            treasuryShare += earned[i] / 10;
            vm.assertEq(
                router.creditOf(Parties.payout(i, 0)),
                earned[i] - earned[i] / 10,
                "each developer is credited nine tenths of what its tool earned"
            );
        }
        vm.assertEq(charged, total, "charged");
        vm.assertEq(router.creditOf(Parties.TREASURY), treasuryShare, "the treasury's credit");
        vm.assertEq(usdc.balanceOf(address(router)), total, "the router holds what was charged");
        _compareWallets(wallets);
        (uint256 limit, uint256 left) = router.operatorLimit(Parties.OPERATOR);
        vm.assertEq(limit - left, total, "the operator's limit shrinks by what was charged");
        vm.assertEq(router.settledAt(ROOT), vm.getBlockTimestamp(), "settled now");
    }

    function testFuzz_rowsCutShortRevert(uint256 seed) public {
        Dice memory dice = Dice(seed);
        _stageTools(dice);
        Row[] memory rows = _rollRows(dice);
        bytes memory whole = Rows.encode(rows);
        // Cutting into the last row only: a cut between rows is a shorter batch, not a broken one.
        Row[] memory last = new Row[](1);
        last[0] = rows[rows.length - 1];
        uint256 missing = dice.roll(1, Rows.encode(last).length - 1);
        bytes memory cut = _prefix(whole, whole.length - missing);

        vm.prank(Parties.OPERATOR);
        try router.settle(ROOT, _toolIds, cut) {
            vm.assertTrue(false, "rows that are cut short must not settle");
        } catch (bytes memory reason) {
            vm.assertTrue(bytes4(reason) == IContextRouter.RowsTruncated.selector, "RowsTruncated");
        }
        vm.assertEq(router.settledAt(ROOT), 0, "the batch can still be settled");
    }

    function testFuzz_aLineToAToolOutsideTheBatchReverts(uint8 index, uint48 amount) public {
        _stageTools(Dice(index));
        if (index < TOOLS) index += uint8(TOOLS);
        Row[] memory rows = new Row[](1);
        rows[0] = Row(Parties.payer(0), 0, new Line[](1));
        rows[0].lines[0] = Line(index, amount);

        vm.prank(Parties.OPERATOR);
        vm.expectRevert(abi.encodeWithSelector(Tallies.ToolIndexOutOfRange.selector, index, TOOLS));
        router.settle(ROOT, _toolIds, Rows.encode(rows));
    }

    function testFuzz_aBatchAboveTheOperatorsLimitChargesNobody(uint48 limit, uint48 excess) public {
        uint256 max = router.MAX_OPERATOR_LIMIT();
        limit = uint48(1 + (limit % max));
        uint256 amount = uint256(limit) + 1 + (excess % max);
        setOperatorLimit(limit);
        mint(Parties.payer(0), amount);
        approve(Parties.payer(0), address(router), amount);
        Row[] memory rows = new Row[](1);
        rows[0] = Row(Parties.payer(0), uint48(amount), new Line[](0));

        vm.prank(Parties.OPERATOR);
        vm.expectRevert(abi.encodeWithSelector(IContextRouter.OperatorLimitExceeded.selector, amount, limit));
        router.settle(ROOT, _toolIds, Rows.encode(rows));
        vm.assertEq(usdc.balanceOf(Parties.payer(0)), amount, "the payer keeps everything");

        rows[0].modelCost = limit;
        vm.prank(Parties.OPERATOR);
        vm.assertEq(router.settle(ROOT, _toolIds, Rows.encode(rows)), limit, "exactly the limit settles");
    }

    /// @dev A tool is listed, or not, or listed and then left with less than its price needs.
    function _stageTools(Dice memory dice) private {
        for (uint256 i = 0; i < TOOLS; ++i) {
            address owner = Parties.developer(i);
            bool listed = dice.chance(85);
            bool underStaked = dice.chance(25);
            _toolIds.push(staking.toolIdOf(owner, bytes32(i)));
            _payable.push(listed && !underStaked);
            if (!listed) continue;
            uint256 price = dice.roll(0, 1e6);
            uint256 required = price * 100 > 10e6 ? price * 100 : 10e6;
            uint256 surplus = dice.roll(0, 3);
            list(owner, bytes32(i), price, Parties.payout(i, 0), required + surplus);
            // One unit below what the price needs, or exactly that.
            uint256 withdrawn = underStaked ? surplus + 1 : surplus;
            if (withdrawn == 0) continue;
            vm.prank(owner);
            staking.requestWithdrawal(_toolIds[i], withdrawn);
        }
    }

    function _stagePayers(Dice memory dice) private returns (Wallet[] memory wallets) {
        wallets = new Wallet[](PAYERS);
        for (uint256 i = 0; i < PAYERS; ++i) {
            address payer = Parties.payer(i);
            Wallet memory wallet = wallets[i];
            wallet.balance = dice.roll(0, MAX_AMOUNT * 8);
            wallet.allowance = dice.chance(15) ? 0 : dice.roll(0, MAX_AMOUNT * 8);
            wallet.dailyCapLeft = dice.chance(30) ? dice.roll(1, MAX_AMOUNT * 4) : type(uint256).max;
            wallet.blacklisted = dice.chance(10);
            if (wallet.balance != 0) mint(payer, wallet.balance);
            approve(payer, address(router), wallet.allowance);
            if (wallet.dailyCapLeft != type(uint256).max) {
                vm.prank(payer);
                router.setDailyCap(uint48(wallet.dailyCapLeft));
            }
            if (wallet.blacklisted) {
                vm.prank(Parties.CIRCLE);
                usdc.blacklist(payer);
            }
        }
    }

    function _rollRows(Dice memory dice) private pure returns (Row[] memory rows) {
        rows = new Row[](dice.roll(1, 10));
        for (uint256 i = 0; i < rows.length; ++i) {
            address payer = Parties.payer(dice.roll(0, PAYERS - 1));
            uint256 modelCost = dice.chance(50) ? 0 : dice.roll(0, MAX_AMOUNT);
            rows[i] = Row(payer, uint48(modelCost), new Line[](dice.roll(0, 5)));
            for (uint256 j = 0; j < rows[i].lines.length; ++j) {
                uint256 amount = dice.chance(10) ? 0 : dice.roll(0, MAX_AMOUNT);
                rows[i].lines[j] = Line(uint8(dice.roll(0, TOOLS - 1)), uint48(amount));
            }
        }
    }

    /// @dev Row after row: add up what may be paid, and take it if the payer can pay it all.
    function _settleByReference(
        Wallet[] memory wallets,
        Row[] memory rows
    ) private view returns (uint256[] memory earned, uint256 modelCosts) {
        earned = new uint256[](TOOLS);
        for (uint256 i = 0; i < rows.length; ++i) {
            Row memory row = rows[i];
            Wallet memory wallet = wallets[uint160(row.payer) - uint160(Parties.payer(0))];
            uint256 total = row.modelCost;
            for (uint256 j = 0; j < row.lines.length; ++j) {
                if (_payable[row.lines[j].toolIndex]) total += row.lines[j].amount;
            }
            if (total == 0 || !_canPay(wallet, total)) continue;
            wallet.balance -= total;
            wallet.allowance -= total;
            if (wallet.dailyCapLeft != type(uint256).max) wallet.dailyCapLeft -= total;
            wallet.paid += total;
            modelCosts += row.modelCost;
            for (uint256 j = 0; j < row.lines.length; ++j) {
                if (_payable[row.lines[j].toolIndex]) earned[row.lines[j].toolIndex] += row.lines[j].amount;
            }
        }
    }

    function _canPay(Wallet memory wallet, uint256 amount) private pure returns (bool) {
        return
            !wallet.blacklisted &&
            amount <= wallet.balance &&
            amount <= wallet.allowance &&
            amount <= wallet.dailyCapLeft;
    }

    function _compareWallets(Wallet[] memory wallets) private view {
        for (uint256 i = 0; i < PAYERS; ++i) {
            address payer = Parties.payer(i);
            IContextRouter.Spendable memory spendable = router.spendable(payer);
            vm.assertEq(usdc.balanceOf(payer), wallets[i].balance, "balance");
            vm.assertEq(spendable.balance, wallets[i].balance, "spendable balance");
            vm.assertEq(spendable.allowance, wallets[i].allowance, "allowance");
            vm.assertEq(spendable.dailyCapLeft, wallets[i].dailyCapLeft, "what is left of the daily cap");
            vm.assertTrue(
                _canPay(wallets[i], spendable.amount) || spendable.amount == 0,
                "what is spendable could be charged"
            );
            if (spendable.amount < type(uint256).max) {
                vm.assertTrue(!_canPay(wallets[i], spendable.amount + 1), "and not one unit more");
            }
        }
    }

    function _prefix(bytes memory whole, uint256 length) private pure returns (bytes memory prefix) {
        prefix = new bytes(length);
        for (uint256 i = 0; i < length; ++i) prefix[i] = whole[i];
    }
}
