// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IContextRouter} from "../../contracts/interfaces/IContextRouter.sol";
import {IToolStaking} from "../../contracts/interfaces/IToolStaking.sol";
import {BatchRows} from "../../contracts/libraries/BatchRows.sol";
import {Tallies} from "../../contracts/libraries/Tallies.sol";
import {vm} from "./support/Cheats.sol";
import {Rng} from "./support/Rng.sol";
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
        uint256 prepaid;
        uint256 paid;
    }

    uint256 private constant PAYERS = 5;
    uint256 private constant TOOLS = 5;
    uint256 private constant MAX_AMOUNT = 50e6;
    uint256 private constant MULTIPLE = 5;
    bytes32 private constant ROOT = keccak256("receipts");

    bytes16[] private _toolIds;

    /// @dev What each tool may earn; nothing if it may not be paid.
    uint256[] private _rooms;

    function setUp() public override {
        super.setUp();
        // Low enough for a tool to earn all that it may in one batch.
        setParameters(IToolStaking.Parameters(10e6, 100, 1000, 5e6, 2500, uint16(MULTIPLE)));
    }

    /// hardhat-config: fuzz.runs = 200
    function testFuzz_aBatchChargesAndCreditsAsTheReferenceDoes(uint256 seed) public {
        Rng memory rng = Rng(seed);
        _stageTools(rng);
        Wallet[] memory wallets = _stagePayers(rng);
        Row[] memory rows = _randomRows(rng);

        vm.prank(Parties.OPERATOR);
        uint256 charged = router.settle(0, ROOT, _toolIds, Rows.encode(rows));

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
        uint256 prepaid;
        for (uint256 i = 0; i < PAYERS; ++i) prepaid += wallets[i].prepaid;
        vm.assertEq(usdc.balanceOf(address(router)), total + prepaid, "the router holds credits and prepaid balances");
        _compareWallets(wallets);
        (uint256 limit, uint256 left, ) = router.operatorLimit(Parties.OPERATOR);
        vm.assertEq(limit - left, total, "the operator's limit shrinks by what was charged");
        vm.assertEq(router.settledAt(ROOT), vm.getBlockTimestamp(), "settled now");
    }

    function testFuzz_rowsCutShortRevert(uint256 seed) public {
        Rng memory rng = Rng(seed);
        _stageTools(rng);
        Row[] memory rows = _randomRows(rng);
        bytes memory whole = Rows.encode(rows);
        // Cutting into the last row only: a cut between rows is a shorter batch, not a broken one.
        Row[] memory last = new Row[](1);
        last[0] = rows[rows.length - 1];
        uint256 missing = rng.between(1, Rows.encode(last).length - 1);
        bytes memory cut = _prefix(whole, whole.length - missing);

        vm.prank(Parties.OPERATOR);
        try router.settle(0, ROOT, _toolIds, cut) {
            vm.assertTrue(false, "rows that are cut short must not settle");
        } catch (bytes memory reason) {
            vm.assertTrue(bytes4(reason) == BatchRows.RowsTruncated.selector, "RowsTruncated");
        }
        vm.assertEq(router.settledAt(ROOT), 0, "the batch can still be settled");
    }

    function testFuzz_aLineToAToolOutsideTheBatchReverts(uint8 index, uint48 amount) public {
        if (amount == 0) return;
        _stageTools(Rng(index));
        if (index < TOOLS) index += uint8(TOOLS);
        Row[] memory rows = new Row[](1);
        rows[0] = Row(Parties.payer(0), 0, 0, new Line[](1));
        rows[0].lines[0] = Line(index, amount);

        vm.prank(Parties.OPERATOR);
        vm.expectRevert(abi.encodeWithSelector(Tallies.ToolIndexOutOfRange.selector, index, TOOLS));
        router.settle(0, ROOT, _toolIds, Rows.encode(rows));
    }

    function testFuzz_aBatchAboveTheOperatorsLimitChargesNobody(uint48 limit, uint48 excess) public {
        uint256 max = router.MAX_OPERATOR_LIMIT();
        limit = uint48(1 + (limit % max));
        uint256 amount = uint256(limit) + 1 + (excess % max);
        setOperatorLimit(limit);
        mint(Parties.payer(0), amount);
        approve(Parties.payer(0), address(router), amount);
        Row[] memory rows = new Row[](1);
        rows[0] = Row(Parties.payer(0), 0, uint48(amount), new Line[](0));

        vm.prank(Parties.OPERATOR);
        vm.expectRevert(abi.encodeWithSelector(IContextRouter.OperatorLimitExceeded.selector, amount, limit));
        router.settle(0, ROOT, _toolIds, Rows.encode(rows));
        vm.assertEq(usdc.balanceOf(Parties.payer(0)), amount, "the payer keeps everything");

        rows[0].modelCost = limit;
        vm.prank(Parties.OPERATOR);
        vm.assertEq(router.settle(0, ROOT, _toolIds, Rows.encode(rows)), limit, "exactly the limit settles");
    }

    /// @dev A tool is listed, or not, or listed and then left with less than its price needs.
    function _stageTools(Rng memory rng) private {
        for (uint256 i = 0; i < TOOLS; ++i) {
            address owner = Parties.developer(i);
            bool listed = rng.happens(85);
            bool underStaked = rng.happens(25);
            _toolIds.push(staking.toolIdOf(owner, bytes32(i)));
            if (!listed) {
                _rooms.push(0);
                continue;
            }
            uint256 price = rng.between(0, 1e6);
            uint256 required = price * 100 > 10e6 ? price * 100 : 10e6;
            uint256 surplus = rng.between(0, 3);
            list(owner, bytes32(i), price, Parties.payout(i, 0), required + surplus);
            // One unit below what the price needs, or exactly that.
            uint256 withdrawn = underStaked ? surplus + 1 : surplus;
            _rooms.push(underStaked ? 0 : required * MULTIPLE);
            if (withdrawn == 0) continue;
            vm.prank(owner);
            staking.requestWithdrawal(_toolIds[i], withdrawn);
        }
    }

    function _stagePayers(Rng memory rng) private returns (Wallet[] memory wallets) {
        wallets = new Wallet[](PAYERS);
        for (uint256 i = 0; i < PAYERS; ++i) {
            address payer = Parties.payer(i);
            Wallet memory wallet = wallets[i];
            wallet.balance = rng.between(0, MAX_AMOUNT * 8);
            wallet.allowance = rng.happens(15) ? 0 : rng.between(0, MAX_AMOUNT * 8);
            wallet.dailyCapLeft = rng.happens(30) ? rng.between(1, MAX_AMOUNT * 4) : type(uint256).max;
            wallet.blacklisted = rng.happens(10);
            wallet.prepaid = rng.happens(50) ? 0 : rng.between(1, MAX_AMOUNT * 4);
            if (wallet.prepaid != 0) {
                mint(payer, wallet.prepaid);
                approve(payer, address(router), wallet.prepaid);
                vm.prank(payer);
                router.deposit(wallet.prepaid);
            }
            if (wallet.balance != 0) mint(payer, wallet.balance);
            approve(payer, address(router), wallet.allowance);
            if (wallet.dailyCapLeft != type(uint256).max) {
                vm.prank(payer);
                router.setDailyCap(uint40(wallet.dailyCapLeft));
            }
            if (wallet.blacklisted) {
                vm.prank(Parties.CIRCLE);
                usdc.blacklist(payer);
            }
        }
    }

    function _randomRows(Rng memory rng) private pure returns (Row[] memory rows) {
        uint256[] memory payers = rng.choose(rng.between(1, PAYERS), PAYERS);
        rows = new Row[](payers.length);
        for (uint256 i = 0; i < rows.length; ++i) {
            address payer = Parties.payer(payers[i]);
            // The first row is never empty: a batch that asks for nothing is none.
            uint256 modelCost = i != 0 && rng.happens(50) ? 0 : rng.between(1, MAX_AMOUNT);
            rows[i] = Row(payer, rng.happens(20) ? 1 : 0, uint48(modelCost), new Line[](rng.between(0, 5)));
            for (uint256 j = 0; j < rows[i].lines.length; ++j) {
                uint256 amount = rng.happens(10) ? 0 : rng.between(0, MAX_AMOUNT);
                rows[i].lines[j] = Line(uint8(rng.between(0, TOOLS - 1)), uint48(amount));
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
            uint256[] memory after_ = new uint256[](TOOLS);
            for (uint256 j = 0; j < TOOLS; ++j) after_[j] = earned[j];
            for (uint256 j = 0; j < row.lines.length; ++j) {
                Line memory line = row.lines[j];
                if (after_[line.toolIndex] + line.amount > _rooms[line.toolIndex]) continue;
                after_[line.toolIndex] += line.amount;
                total += line.amount;
            }
            if (total == 0 || !_canPayRow(wallet, row.flags == 1, total)) continue;
            _take(wallet, row.flags == 1, total);
            modelCosts += row.modelCost;
            earned = after_;
        }
    }

    function _take(Wallet memory wallet, bool prepaid, uint256 total) private pure {
        if (prepaid) {
            wallet.prepaid -= total;
        } else {
            wallet.balance -= total;
            wallet.allowance -= total;
        }
        if (wallet.dailyCapLeft != type(uint256).max) wallet.dailyCapLeft -= total;
        wallet.paid += total;
    }

    function _canPayRow(Wallet memory wallet, bool prepaid, uint256 amount) private pure returns (bool) {
        if (prepaid) return amount <= wallet.prepaid && amount <= wallet.dailyCapLeft;
        return _canPay(wallet, amount);
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
            vm.assertEq(spendable.prepaid, wallets[i].prepaid, "prepaid");
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
