// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICharges} from "../../../contracts/court/interfaces/ICharges.sol";
import {IReceiptCourt} from "../../../contracts/court/interfaces/IReceiptCourt.sol";
import {IContextRouter} from "../../../contracts/interfaces/IContextRouter.sol";
import {ICredits} from "../../../contracts/interfaces/ICredits.sol";
import {IOperatorBonds} from "../../../contracts/interfaces/IOperatorBonds.sol";
import {Handler} from "./Handler.sol";
import {Parties, Protocol} from "./Protocol.sol";
import {Rng} from "./Rng.sol";
import {Line, Row, Rows} from "./Rows.sol";
import {vm} from "./Cheats.sol";

/// @title Operators who are honest or not, and payers who go to the receipt court
/// @notice Keeps its own account of what was charged and given back. A batch has one row, for the model, and two receipts:
/// good ones, ones that do not add up to the row, or ones of a charge that was charged before.
contract BondsHandler is Handler {
    struct Batch {
        address operator;
        address payer;
        bytes call;
        bytes32 root;
        uint256 charged;
        ICharges.Receipt[2] receipts;
    }

    uint256 private constant PAYERS = 3;

    /// @dev Contests for everybody, so that deposits and refunds can be told apart.
    address private immutable CONTESTER = Parties.reporter(0);

    /// @dev The newest batches are remembered, and older ones forgotten: nothing more can be had for them.
    uint256 private constant BATCHES = 40;

    IOperatorBonds public immutable bonds;
    IReceiptCourt public immutable court;

    Batch[BATCHES] private _batches;
    uint256 private _settlements;

    /// @notice What of each batch was given back by the court.
    mapping(bytes32 root => uint256 amount) public givenBack;
    mapping(address operator => uint256 time) private _askedAt;
    mapping(address operator => uint256 amount) private _asked;

    /// @notice Contests that were neither answered nor refunded: the deposits that are held for them.
    uint256 public openContests;
    uint256 public withdrawalsTooEarly;
    uint256 public settledWithoutBond;
    uint256 public premiumsTooHigh;
    uint256 public finesTooLow;
    uint256 public refundsGoneWrong;

    uint256 private _charges;

    constructor(Protocol memory protocol) Handler(protocol) {
        bonds = router.bonds();
        court = IReceiptCourt(bonds.court());
        for (uint256 i = 0; i < PAYERS; ++i) {
            _mint(Parties.payer(i), 1e15);
            _approve(Parties.payer(i), address(router));
            _approve(Parties.payer(i), address(bonds));
        }
        for (uint256 i = 0; i < 2; ++i) {
            _mint(operators(i), 1e15);
            _approve(operators(i), address(bonds));
        }
        _mint(CONTESTER, 1e15);
        _approve(CONTESTER, address(bonds));
    }

    function operators(uint256 index) public pure returns (address) {
        return index == 0 ? Parties.OPERATOR : Parties.SECOND_OPERATOR;
    }

    function creditors() external pure returns (address[] memory accounts) {
        return _creditors();
    }

    function batches() public view returns (uint256) {
        return _settlements < BATCHES ? _settlements : BATCHES;
    }

    function batchAt(uint256 index) external view returns (bytes32 root, uint256 charged) {
        return (_batches[index].root, _batches[index].charged);
    }

    function post(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address operator = operators(rng.between(0, 1));
        uint256 amount = rng.between(1, 500e6);
        vm.prank(operator);
        bonds.post(operator, amount);
        _reach("post");
    }

    function requestWithdrawal(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address operator = operators(rng.between(0, 1));
        uint256 amount = bonds.bondOf(operator).amount;
        if (!rng.happens(20)) amount = rng.between(0, amount);
        vm.prank(operator);
        bonds.requestWithdrawal(operator, amount);
        (_asked[operator], _askedAt[operator]) = (amount, amount == 0 ? 0 : _now());
        _reach("request a bond");
    }

    function withdraw(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address operator = operators(rng.between(0, 1));
        uint256 askedAt = _askedAt[operator];
        if (askedAt != 0 && rng.happens(50)) _warpToTheEdgeOf(askedAt + bonds.WITHDRAWAL_DELAY(), rng);
        uint256 before = usdc.balanceOf(operator);
        (bool ok, ) = _try(operator, address(bonds), abi.encodeCall(IOperatorBonds.withdraw, (operator, operator)));
        if (!ok) return _reach("withdraw too early");
        bool wasTime = askedAt != 0 && _now() >= askedAt + 21 days;
        if (!wasTime || usdc.balanceOf(operator) - before > _asked[operator]) ++withdrawalsTooEarly;
        (_asked[operator], _askedAt[operator]) = (0, 0);
        _reach("withdraw a bond");
    }

    /// @notice Settles a row for the model. What its receipts say, the seed decides.
    function settle(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address operator = operators(rng.between(0, 1));
        Batch storage batch = _batches[_settlements++ % BATCHES];
        batch.operator = operator;
        batch.payer = Parties.payer(rng.between(0, PAYERS - 1));
        for (uint256 i = 0; i < 2; ++i) batch.receipts[i] = _receipt(batch.payer, rng);
        batch.charged = batch.receipts[0].amount + batch.receipts[1].amount;
        // More than there are receipts for, or less.
        if (rng.happens(30)) batch.charged = rng.between(1, 60e6);
        (bytes32 one, bytes32 other) = _sortedLeaves(batch);
        batch.root = keccak256(bytes.concat(one, other));
        batch.call = _callOf(batch, rng);
        bool covered = bonds.covers(operator, _limitOf(operator));
        (bool ok, ) = _try(operator, address(router), batch.call);
        if (!ok) {
            --_settlements;
            return _reach("settle in vain");
        }
        if (!covered) ++settledWithoutBond;
        _reach("settle");
    }

    function contest(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        if (_settlements == 0) return;
        Batch storage batch = _anyBatch(rng);
        bytes memory call = abi.encodeCall(IReceiptCourt.contest, (_settlementOf(batch), batch.payer));
        (bool ok, ) = _try(CONTESTER, address(court), call);
        if (!ok) return;
        ++openContests;
        _reach("contest");
    }

    function answer(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        if (_settlements == 0) return;
        Batch storage batch = _contestedBatch(rng);
        IReceiptCourt.Answer memory shown;
        shown.lines = new IReceiptCourt.Line[](1);
        shown.lines[0].amount = batch.charged;
        shown.receipts = new ICharges.Receipt[](2);
        (shown.receipts[0], shown.receipts[1]) = (batch.receipts[0], batch.receipts[1]);
        if (court.leafOf(batch.receipts[0]) > court.leafOf(batch.receipts[1])) {
            (shown.receipts[0], shown.receipts[1]) = (shown.receipts[1], shown.receipts[0]);
        }
        shown.places = new uint8[](2);
        shown.proofFlags = new bool[](1);
        shown.proofFlags[0] = true;
        bytes memory call = abi.encodeCall(IReceiptCourt.answer, (batch.root, batch.payer, shown));
        // Receipts prove, whoever shows them.
        (bool ok, ) = _try(rng.happens(50) ? batch.operator : batch.payer, address(court), call);
        if (!ok) return;
        bool isWhole = court.contestOf(batch.root, batch.payer).stage == IReceiptCourt.Stage.Answered;
        if (isWhole) --openContests;
        _reach(isWhole ? bytes32("answer") : bytes32("answer in part"));
        // What was shown is what a payer was waiting for.
        if (isWhole && rng.happens(80)) for (uint256 place = 0; place < 2; ++place) _proveAgainstAll(batch, place);
    }

    function refund(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        if (_settlements == 0) return;
        Batch storage batch = _anyBatch(rng);
        IReceiptCourt.Contest memory before = court.contestOf(batch.root, batch.payer);
        if (before.stage == IReceiptCourt.Stage.Contested && rng.happens(50)) _warpToTheEdgeOf(before.until, rng);
        uint256 credit = bonds.creditOf(batch.payer);
        bytes memory call = abi.encodeCall(IReceiptCourt.refund, (batch.root, batch.payer));
        (bool ok, bytes memory answered) = _try(Parties.reporter(0), address(court), call);
        if (!ok) return;
        bool isFirst = before.stage == IReceiptCourt.Stage.Contested;
        if (isFirst && _now() < before.until) ++refundsGoneWrong;
        if (isFirst) --openContests;
        uint256 amount = abi.decode(answered, (uint256));
        if (bonds.creditOf(batch.payer) != credit + amount) ++refundsGoneWrong;
        givenBack[batch.root] += amount;
        _reach(isFirst ? bytes32("refund") : bytes32("refund what was owed"));
    }

    function proveDoubleCharge(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        if (_settlements == 0) return;
        Batch storage batch = _anyBatch(rng);
        _proveAgainstAll(batch, rng.between(0, 1));
    }

    function collect(uint256 seed) external later(seed) {
        _collect(ICredits(address(bonds)), _creditors(), Rng(seed));
    }

    /// @dev Against every batch that it may have been charged in before.
    function _proveAgainstAll(Batch storage batch, uint256 place) private {
        bytes32 chargeId = batch.receipts[place].chargeId;
        for (uint256 i = 0; i < batches(); ++i) {
            for (uint256 j = 0; j < 2; ++j) {
                if (_batches[i].receipts[j].chargeId == chargeId) _prove(_batches[i], j, batch, place);
            }
        }
    }

    function _prove(Batch storage first, uint256 j, Batch storage second, uint256 place) private {
        address prover = Parties.reporter(1);
        uint256[5] memory before = _moneyOf(second, prover);
        bytes memory call = abi.encodeCall(
            IReceiptCourt.proveDoubleCharge,
            (_paidOf(first, j), _paidOf(second, place))
        );
        (bool ok, ) = _try(prover, address(court), call);
        if (!ok) return;
        uint256[5] memory gained = _moneyOf(second, prover);
        for (uint256 i = 1; i < gained.length; ++i) gained[i] -= before[i];
        (uint256 amount, uint256 premium, uint256 deposits, uint256 fine) = (
            gained[1],
            gained[2],
            gained[3],
            gained[4]
        );
        givenBack[second.root] += amount;
        if (premium > amount || premium > court.PREMIUM()) ++premiumsTooHigh;
        if (fine < premium + deposits) ++finesTooLow;
        if (before[0] - gained[0] != amount + premium + deposits + fine) ++finesTooLow;
        if (deposits != 0) _reach("return a deposit");
        _reach(first.root == second.root ? bytes32("prove within a batch") : bytes32("prove a double charge"));
    }

    /// @dev The bond, and what of it was credited to payer, prover, contester and insurance account.
    function _moneyOf(Batch storage batch, address prover) private view returns (uint256[5] memory) {
        return
            [
                uint256(bonds.bondOf(batch.operator).amount),
                bonds.creditOf(batch.payer),
                bonds.creditOf(prover),
                bonds.creditOf(CONTESTER),
                bonds.creditOf(Parties.INSURANCE)
            ];
    }

    function _receipt(address payer, Rng memory rng) private returns (ICharges.Receipt memory receipt) {
        // Some charges come again, with another number of attempts.
        bool isAgain = _charges > 2 && rng.happens(40);
        uint256 number = isAgain ? rng.between(_charges > 8 ? _charges - 8 : 1, _charges) : ++_charges;
        receipt.chargeId = keccak256(abi.encode("charge", number));
        receipt.payer = payer;
        receipt.chargedTo = payer;
        receipt.amount = rng.between(1, 20e6);
        receipt.attempts = rng.between(0, 1e18);
    }

    function _callOf(Batch storage batch, Rng memory rng) private view returns (bytes memory) {
        Row[] memory rows = new Row[](1);
        rows[0] = Row(batch.payer, 0, uint48(batch.charged), new Line[](0));
        bytes32 head = router.headOf(batch.operator);
        // What does not follow is refused, and is no batch.
        if (rng.happens(2)) head = ~head;
        return abi.encodeCall(IContextRouter.settle, (head, batch.root, new bytes16[](0), Rows.encode(rows)));
    }

    function _paidOf(Batch storage batch, uint256 place) private view returns (ICharges.PaidCharge memory paid) {
        paid.settlement = _settlementOf(batch);
        paid.receipt = batch.receipts[place];
        paid.path = new bytes32[](1);
        paid.path[0] = court.leafOf(batch.receipts[1 - place]);
    }

    function _settlementOf(Batch storage batch) private view returns (ICharges.Settlement memory) {
        return ICharges.Settlement(batch.operator, batch.call, new ICharges.Exception[](0));
    }

    function _sortedLeaves(Batch storage batch) private view returns (bytes32 one, bytes32 other) {
        (one, other) = (court.leafOf(batch.receipts[0]), court.leafOf(batch.receipts[1]));
        if (one > other) (one, other) = (other, one);
    }

    /// @dev Mostly one of the newest, which can still be disputed.
    function _anyBatch(Rng memory rng) private view returns (Batch storage) {
        uint256 count = batches();
        if (count > 6 && rng.happens(80)) return _batches[(_settlements - rng.between(1, 6)) % BATCHES];
        return _batches[rng.between(0, count - 1)];
    }

    /// @dev One that can be answered, if that is soon found.
    function _contestedBatch(Rng memory rng) private view returns (Batch storage batch) {
        batch = _anyBatch(rng);
        for (uint256 i = 0; i < 12; ++i) {
            if (court.contestOf(batch.root, batch.payer).stage == IReceiptCourt.Stage.Contested) break;
            batch = _anyBatch(rng);
        }
    }

    function _limitOf(address operator) private view returns (uint256 limit) {
        (limit, , ) = router.operatorLimit(operator);
    }

    function _approve(address account, address spender) private {
        vm.prank(account);
        usdc.approve(spender, type(uint256).max);
    }

    function _creditors() private pure returns (address[] memory accounts) {
        accounts = new address[](PAYERS + 5);
        accounts[PAYERS + 4] = Parties.INSURANCE;
        for (uint256 i = 0; i < PAYERS; ++i) accounts[i] = Parties.payer(i);
        for (uint256 i = 0; i < 2; ++i) {
            accounts[PAYERS + i] = operators(i);
            accounts[PAYERS + 2 + i] = Parties.reporter(i);
        }
    }
}
