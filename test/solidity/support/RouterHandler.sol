// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IContextRouter} from "../../../contracts/interfaces/IContextRouter.sol";
import {IPrepaid} from "../../../contracts/interfaces/IPrepaid.sol";
import {vm} from "./Cheats.sol";
import {Rng} from "./Rng.sol";
import {Handler} from "./Handler.sol";
import {Parties, Protocol} from "./Protocol.sol";
import {Line, Row, Rows} from "./Rows.sol";
import {StakingHandler} from "./StakingHandler.sol";

/// @title Payers, operators, the guardian and Circle, living with ContextRouter
/// @notice Nothing that the router says about itself is believed: debits are read from the token's balances, and every
/// allowance, cap and limit is remembered here from the moment it was given.
contract RouterHandler is Handler {
    struct Debit {
        uint256 timestamp;
        uint256 amount;
    }

    /// @dev What the money looked like before an action.
    struct Snapshot {
        uint256[] balances;
        uint256[] prepaid;
        uint256[] toolCredits;
        uint256 treasuryCredit;
    }

    struct Batch {
        bytes32 root;
        bytes16[] toolIds;
        bytes rows;
    }

    uint256 private constant PAYERS = 5;
    uint256 private constant MAX_AMOUNT = 40e6;

    StakingHandler private immutable _registry;

    mapping(address payer => uint256) private _allowances;
    mapping(address payer => uint256) private _caps;
    mapping(address payer => Debit[]) private _cappedDebits;
    mapping(address operator => uint256) private _limits;
    mapping(address operator => Debit[]) private _settled;
    mapping(address operator => bytes32) private _heads;
    mapping(uint256 tool => Debit[]) private _earnings;
    mapping(address payer => uint256) private _refundable;
    mapping(address payer => uint256) private _refundableFrom;
    Batch[] private _batches;
    address private _outcast;

    uint256 public charged;
    uint256 public developerCredits;
    uint256 public treasuryCredits;

    uint256 public deposited;
    uint256 public drawn;
    uint256 public refunded;

    /// @notice Refunds that came before their time or with another amount, or did not come.
    uint256 public refundsGoneWrong;

    /// @notice Batches that were settled although they do not follow their operator's last one.
    uint256 public batchesOutOfOrder;

    /// @notice Credits with which a tool's 24 hours exceeded what its stake allows.
    uint256 public earningsAboveStake;

    /// @notice Batches that were settled with the receipts of an earlier one.
    uint256 public replaysSettled;

    /// @notice Debits above what the payer had allowed.
    uint256 public debitsAboveAllowance;

    /// @notice Debits with which a payer's 24 hours exceeded the cap in force.
    uint256 public debitsAboveCap;

    /// @notice Batches with which an operator's 24 hours exceeded the limit in force.
    uint256 public batchesAboveLimit;

    /// @notice Credits to tools whose stake was too low.
    uint256 public underStakedToolsPaid;

    /// @notice Direct payments that failed although the pre-flight allowed them, or the other way round.
    uint256 public preflightsGoneWrong;

    constructor(Protocol memory protocol, StakingHandler registry, uint256 operatorLimit) Handler(protocol) {
        _registry = registry;
        _limits[Parties.OPERATOR] = operatorLimit;
        for (uint256 i = 0; i < PAYERS; ++i) {
            _mint(_payer(i), 1000e6);
            _approve(_payer(i), 500e6);
        }
    }

    function settle(uint256 seed) external later(seed) {
        _settleNew(Rng(seed));
    }

    /// @dev A busy hour, in which caps and limits are reached.
    function settleMany(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 count = rng.between(3, 8);
        for (uint256 i = 0; i < count; ++i) _settleNew(rng);
    }

    /// @dev Settles the receipts of an earlier batch again, with the same rows or with others.
    function replay(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        if (_batches.length == 0) return;
        Batch memory batch = _batches[rng.between(0, _batches.length - 1)];
        if (rng.happens(50)) batch = Batch(batch.root, _randomTools(rng), Rows.encode(_randomRows(rng)));
        address operator = _randomOperator(rng);
        if (_trySettle(operator, _heads[operator], batch)) ++replaysSettled;
        _reach("replay");
    }

    function pay(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address payer = _payer(rng.between(0, PAYERS - 1));
        uint256 index = rng.between(0, _registry.TOOLS() - 1);
        uint256 amount = rng.between(1, MAX_AMOUNT);
        uint256 modelCost = rng.between(0, MAX_AMOUNT);
        bool expected =
            _registry.mayBePaid(index) &&
                amount <= router.earningsLeft(_registry.toolIds(index)) &&
                amount + modelCost <= router.spendable(payer).amount;
        Snapshot memory before = _snapshot();
        bytes memory call = abi.encodeCall(IContextRouter.pay, (_registry.toolIds(index), amount, modelCost));
        (bool ok, ) = _try(payer, address(router), call);
        if (ok != expected) ++preflightsGoneWrong;
        if (_registry.mayBePaid(index) && amount > router.earningsLeft(_registry.toolIds(index))) {
            _reach("earn more than a stake allows");
        }
        if (!ok) return;
        _book(before);
        _reach("pay");
    }

    function deposit(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address payer = _payer(rng.between(0, PAYERS - 1));
        uint256 amount = rng.between(1, 100e6);
        if (_paused() || !_tokenMoves(payer, address(router))) return;
        if (usdc.balanceOf(payer) < amount || usdc.allowance(payer, address(router)) < amount) return;
        vm.prank(payer);
        router.deposit(amount);
        _allowances[payer] -= amount;
        deposited += amount;
        _reach("deposit");
    }

    /// @dev Asks for a refund, or tries to have the one that was asked for, at its time or a second before.
    function refund(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address payer = _payer(rng.between(0, PAYERS - 1));
        uint256 balance = router.prepaidOf(payer).balance;
        if (_refundableFrom[payer] == 0) {
            if (balance == 0) return;
            _refundable[payer] = rng.between(1, balance);
            _refundableFrom[payer] = _now() + 2 days;
            vm.prank(payer);
            router.requestRefund(_refundable[payer]);
            return;
        }
        if (rng.happens(10)) _warpToTheEdgeOf(_refundableFrom[payer], rng);
        uint256 due = _refundable[payer] < balance ? _refundable[payer] : balance;
        bool expected = _now() >= _refundableFrom[payer] && _tokenMoves(address(router), address(0xFEE));
        uint256 before = usdc.balanceOf(address(0xFEE));
        (bool ok, ) = _try(payer, address(router), abi.encodeCall(IPrepaid.refund, (address(0xFEE))));
        if (ok != expected || usdc.balanceOf(address(0xFEE)) != before + (ok ? due : 0)) ++refundsGoneWrong;
        if (!ok) return;
        _refundableFrom[payer] = 0;
        refunded += due;
        _reach("refund");
    }

    function approve(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address payer = _payer(rng.between(0, PAYERS - 1));
        if (!_tokenMoves(payer, address(router))) return;
        bool revoke = rng.happens(20);
        _approve(payer, revoke ? 0 : rng.between(1, 1000e6));
        _reach(revoke ? bytes32("revoke") : bytes32("approve"));
    }

    function fund(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address payer = _payer(rng.between(0, PAYERS - 1));
        if (!_tokenMoves(Parties.CIRCLE, payer)) return;
        _mint(payer, rng.between(1, 1000e6));
    }

    function drain(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address payer = _payer(rng.between(0, PAYERS - 1));
        if (!_tokenMoves(payer, address(0xFEE))) return;
        uint256 balance = usdc.balanceOf(payer);
        uint256 amount = rng.happens(50) ? balance : rng.between(0, balance);
        vm.prank(payer);
        usdc.transfer(address(0xFEE), amount);
        _reach("drain");
    }

    function setDailyCap(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        address payer = _payer(rng.between(0, PAYERS - 1));
        _caps[payer] = rng.happens(20) ? 0 : rng.between(1, 200e6);
        vm.prank(payer);
        if (_caps[payer] == 0) router.liftDailyCap();
        else router.setDailyCap(uint40(_caps[payer]));
        _reach("set a daily cap");
    }

    function setOperatorLimit(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        bytes memory change = abi.encodeCall(
            IContextRouter.setOperatorLimit,
            (_randomOperator(rng), uint48(rng.between(20e6, 500e6)))
        );
        bytes memory done = _administer(address(router), change);
        if (done.length == 0) return;
        (address operator, uint48 limit) = abi.decode(_arguments(done), (address, uint48));
        _limits[operator] = limit;
        _reach("set an operator's limit");
    }

    function suspendOperator(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        // Rarely, because the way back takes eight days.
        if (rng.happens(85)) return;
        address operator = Parties.SECOND_OPERATOR;
        _limits[operator] = 0;
        vm.prank(Parties.GUARDIAN);
        router.suspendOperator(operator);
        _reach("suspend an operator");
    }

    function pauseRouter(uint256 seed) external later(seed) {
        if (_paused()) return;
        vm.prank(Parties.GUARDIAN);
        router.pause();
        _reach("pause the router");
    }

    function pauseToken(uint256 seed) external later(seed) {
        if (usdc.paused()) return;
        vm.prank(Parties.CIRCLE);
        usdc.pause();
        _reach("pause the token");
    }

    /// @dev Lets the last outcast back in, and often bars another account: a payer, a payee, an owner of a tool, or
    /// one of the contracts.
    function blacklist(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        if (_outcast != address(0)) {
            vm.prank(Parties.CIRCLE);
            usdc.unBlacklist(_outcast);
            _outcast = address(0);
        }
        if (rng.happens(30)) return;
        uint256 tool = rng.between(0, _registry.TOOLS() - 1);
        address[6] memory candidates = [
            _payer(rng.between(0, PAYERS - 1)),
            Parties.payout(tool, rng.between(0, 1)),
            Parties.developer(tool),
            Parties.reporter(rng.between(0, 1)),
            Parties.TREASURY,
            rng.happens(50) ? address(router) : address(staking)
        ];
        _outcast = candidates[rng.between(0, candidates.length - 1)];
        vm.prank(Parties.CIRCLE);
        usdc.blacklist(_outcast);
        _reach("blacklist");
    }

    function collect(uint256 seed) external later(seed) {
        bool paused = _paused();
        uint256 before = reached["claim"] + reached["payout"];
        _collect(router, creditors(), Rng(seed));
        if (paused && reached["claim"] + reached["payout"] > before) _reach("claim from a paused router");
    }

    /// @notice All prepaid balances together.
    function prepaid() external view returns (uint256 sum) {
        for (uint256 i = 0; i < PAYERS; ++i) sum += router.prepaidOf(_payer(i)).balance;
    }

    /// @notice Everybody who can have a credit in the router.
    function creditors() public view returns (address[] memory accounts) {
        uint256 tools = _registry.TOOLS();
        accounts = new address[](2 * tools + 1);
        for (uint256 i = 0; i < tools; ++i) {
            accounts[2 * i] = Parties.payout(i, 0);
            accounts[2 * i + 1] = Parties.payout(i, 1);
        }
        accounts[2 * tools] = Parties.TREASURY;
    }

    function _settleNew(Rng memory rng) private {
        bytes32 root = keccak256(abi.encode(_batches.length));
        Batch memory batch = Batch(root, _randomTools(rng), Rows.encode(_randomRows(rng)));
        address operator = _randomOperator(rng);
        bytes32 previous = _heads[operator];
        if (rng.happens(10)) {
            previous = _batches.length == 0 ? keccak256("nobody's batch") : _batches[0].root;
            _reach("settle out of order");
        }
        if (!_trySettle(operator, previous, batch)) return;
        _batches.push(batch);
        _reach("settle");
    }

    function _trySettle(address operator, bytes32 previous, Batch memory batch) private returns (bool) {
        Snapshot memory before = _snapshot();
        bytes memory call = abi.encodeCall(IContextRouter.settle, (previous, batch.root, batch.toolIds, batch.rows));
        (bool ok, bytes memory answer) = _try(operator, address(router), call);
        if (!ok) {
            bytes4 reason = bytes4(answer);
            if (reason == IContextRouter.OperatorLimitExceeded.selector) _reach("exceed an operator's limit");
            else if (reason == IContextRouter.TokenUnavailable.selector)
                _reach("settle without the token");
                // A batch fails as a whole for these reasons and for no other.
            else _mustSucceed(_isExpected(reason), answer);
            return false;
        }
        if (previous != _heads[operator]) ++batchesOutOfOrder;
        _heads[operator] = batch.root;
        uint256 sum = _book(before);
        if (sum != abi.decode(answer, (uint256))) ++debitsAboveAllowance;
        // A batch that charges nobody uses up nothing, even of a limit that was lowered below what had been settled.
        if (sum == 0) return true;
        _settled[operator].push(Debit(_now(), sum));
        if (_sumOfLastDay(_settled[operator]) > _limits[operator]) ++batchesAboveLimit;
        return true;
    }

    function _isExpected(bytes4 reason) private pure returns (bool) {
        return
            reason == IContextRouter.BatchAlreadySettled.selector ||
            reason == IContextRouter.BatchOutOfOrder.selector ||
            reason == IContextRouter.EmptyBatch.selector ||
            reason == IContextRouter.ToolRepeated.selector ||
            reason == IContextRouter.NotOperator.selector ||
            reason == Pausable.EnforcedPause.selector;
    }

    /// @dev Writes down who paid what and who was credited what since `before`; returns the sum of all debits.
    function _book(Snapshot memory before) private returns (uint256 sum) {
        Snapshot memory afterwards = _snapshot();
        for (uint256 i = 0; i < PAYERS; ++i) {
            uint256 fromWallet = before.balances[i] - afterwards.balances[i];
            uint256 fromPrepaid = before.prepaid[i] - afterwards.prepaid[i];
            if (fromWallet + fromPrepaid == 0) continue;
            if (fromPrepaid != 0) _reach("draw on a prepaid balance");
            drawn += fromPrepaid;
            _bookDebit(_payer(i), fromWallet, fromPrepaid);
            sum += fromWallet + fromPrepaid;
        }
        for (uint256 i = 0; i < before.toolCredits.length; ++i) {
            uint256 credit = afterwards.toolCredits[i] - before.toolCredits[i];
            if (credit == 0) continue;
            if (!_registry.mayBePaid(i)) ++underStakedToolsPaid;
            developerCredits += credit;
            _bookEarnings(i, credit);
            _reach("pay a tool");
        }
        treasuryCredits += afterwards.treasuryCredit - before.treasuryCredit;
        charged += sum;
    }

    /// @dev A credit is nine tenths of what was earned, and less than one unit more.
    function _bookEarnings(uint256 tool, uint256 credit) private {
        _earnings[tool].push(Debit(_now(), credit));
        uint256 limit = (_registry.earningLimit(tool) * 9) / 10;
        uint256 earned = _sumOfLastDay(_earnings[tool]);
        if (earned > limit + _earnings[tool].length) ++earningsAboveStake;
    }

    function _bookDebit(address payer, uint256 fromWallet, uint256 fromPrepaid) private {
        if (fromWallet > _allowances[payer]) ++debitsAboveAllowance;
        else _allowances[payer] -= fromWallet;
        _reach("debit");
        // What was taken while there was no cap does not count towards a later one.
        if (_caps[payer] == 0) return;
        _cappedDebits[payer].push(Debit(_now(), fromWallet + fromPrepaid));
        if (_sumOfLastDay(_cappedDebits[payer]) > _caps[payer]) ++debitsAboveCap;
        _reach("debit under a cap");
    }

    /// @dev A window of 24 hours holds most when it ends with a debit, so this is asked after each.
    function _sumOfLastDay(Debit[] storage debits) private view returns (uint256 sum) {
        for (uint256 i = debits.length; i > 0; --i) {
            if (debits[i - 1].timestamp + 24 hours < _now()) break;
            sum += debits[i - 1].amount;
        }
    }

    function _snapshot() private view returns (Snapshot memory snapshot) {
        snapshot.balances = new uint256[](PAYERS);
        snapshot.prepaid = new uint256[](PAYERS);
        for (uint256 i = 0; i < PAYERS; ++i) {
            snapshot.balances[i] = usdc.balanceOf(_payer(i));
            snapshot.prepaid[i] = router.prepaidOf(_payer(i)).balance;
        }
        snapshot.toolCredits = new uint256[](_registry.TOOLS());
        for (uint256 i = 0; i < snapshot.toolCredits.length; ++i) {
            snapshot.toolCredits[i] = router.creditOf(Parties.payout(i, 0)) + router.creditOf(Parties.payout(i, 1));
        }
        snapshot.treasuryCredit = router.creditOf(Parties.TREASURY);
    }

    /// @dev Any tools in any order, the same one twice too, and now and then one that nobody has listed.
    function _randomTools(Rng memory rng) private returns (bytes16[] memory toolIds) {
        toolIds = new bytes16[](3);
        for (uint256 i = 0; i < toolIds.length; ++i) {
            uint256 index = rng.between(0, _registry.TOOLS() - 1);
            toolIds[i] = rng.happens(10) ? bytes16("nobody's tool") : _registry.toolIds(index);
            if (!_registry.mayBePaid(index)) _reach("offer an under-staked tool");
        }
    }

    function _randomRows(Rng memory rng) private pure returns (Row[] memory rows) {
        uint256[] memory payers = rng.choose(rng.between(1, 4), PAYERS);
        rows = new Row[](payers.length);
        for (uint256 i = 0; i < rows.length; ++i) {
            uint256 modelCost = rng.happens(50) ? 0 : rng.between(0, MAX_AMOUNT);
            address payer = _payer(payers[i]);
            rows[i] = Row(payer, rng.happens(25) ? 1 : 0, uint48(modelCost), new Line[](rng.between(0, 3)));
            for (uint256 j = 0; j < rows[i].lines.length; ++j) {
                rows[i].lines[j] = Line(uint8(rng.between(0, 2)), uint48(rng.between(0, MAX_AMOUNT)));
            }
        }
    }

    function _randomOperator(Rng memory rng) private pure returns (address) {
        return rng.happens(75) ? Parties.OPERATOR : Parties.SECOND_OPERATOR;
    }

    function _approve(address payer, uint256 amount) private {
        _allowances[payer] = amount;
        vm.prank(payer);
        usdc.approve(address(router), amount);
    }

    /// @dev The insurance account pays like anybody else.
    /// @dev In ascending order.
    function _payer(uint256 index) private pure returns (address) {
        return index == 0 ? Parties.INSURANCE : Parties.payer(index);
    }
}
