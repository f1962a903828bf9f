// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPenalties} from "../../../contracts/court/interfaces/IPenalties.sol";
import {IToolStaking} from "../../../contracts/interfaces/IToolStaking.sol";
import {vm} from "./Cheats.sol";
import {Rng} from "./Rng.sol";
import {Handler} from "./Handler.sol";
import {Parties, Protocol} from "./Protocol.sol";

/// @title Developers, the adjudicator, the guardian and a court, living with ToolStaking
/// @notice Keeps its own balances of every tool. They never read the contract's, so that the two can be compared.
contract StakingHandler is Handler {
    /// @notice A tool's balances.
    /// @param counted What counts as stake.
    /// @param withdrawing What has been requested.
    /// @param requestedAt When; zero without a request.
    /// @param terms The encoded terms of the proposed slash; empty without one.
    /// @param bountyBps The reporter's share on the day of the proposal.
    /// @param judged Evidence that the tool was slashed for.
    /// @param vetoedAt When a proposal was last vetoed; zero if none was.
    struct Balances {
        bool listed;
        uint256 price;
        uint256 counted;
        uint256 withdrawing;
        uint256 requestedAt;
        bytes terms;
        uint256 proposedAt;
        uint256 bountyBps;
        bytes32 judged;
        uint256 vetoedAt;
    }

    /// @notice What a court took, and when.
    struct Penalty {
        uint256 time;
        uint256 amount;
    }

    /// @notice What a slash or a penalty has credited, in parts.
    struct Paid {
        uint256 refunds;
        uint256 bounties;
        uint256 remainders;
    }

    uint256 public constant TOOLS = 4;
    uint256 private constant PAYERS = 4;
    uint256 private constant REPORTERS = 2;

    bytes16[] public toolIds;
    IToolStaking.Parameters private _parameters = IToolStaking.Parameters(10e6, 100, 1000, 5e6, 2500, 100);
    mapping(uint256 index => Balances) private _balances;
    mapping(uint256 index => Penalty[]) private _penalties;

    uint256 public deposited;
    uint256 public withdrawn;
    uint256 public slashed;
    uint256 public penalized;
    uint256 public refunded;
    uint256 public bounties;
    uint256 public remainders;

    /// @notice Withdrawals that left before their 7 days, or of another amount than was requested.
    uint256 public withdrawalsTooEarly;

    /// @notice Withdrawals that left while a slash held them.
    uint256 public withdrawalsDespiteFreeze;

    /// @notice Withdrawals that did not leave although nothing may hold them any longer.
    uint256 public withdrawalsStuck;

    /// @notice Slashes that did not wait for the developer's answer, or came after they were void.
    uint256 public slashesOutOfTime;

    /// @notice Slashes that were proposed again with evidence that had been judged.
    uint256 public slashesRepeated;

    /// @notice Slashes that were proposed within eight days of a veto.
    uint256 public slashesDespiteVeto;

    /// @notice Slashes that did not refund in full, or in proportion to what there was, or paid another bounty than the
    /// one on the day of the proposal.
    uint256 public slashesPaidWrong;

    /// @notice Penalties beyond their bounds, and penalties within them that were refused.
    uint256 public penaltiesGoneWrong;

    /// @notice Prices that rose without the stake for it, or did not rise with it.
    uint256 public pricesGoneWrong;

    uint256 private _evidence;

    constructor(Protocol memory protocol) Handler(protocol) {
        for (uint256 i = 0; i < TOOLS; ++i) {
            toolIds.push(staking.toolIdOf(Parties.developer(i), bytes32(i)));
        }
    }

    function list(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = rng.between(0, TOOLS - 1);
        Balances storage balances = _balances[index];
        address owner = Parties.developer(index);
        if (balances.listed || !_tokenMoves(owner, address(staking))) return;
        balances.listed = true;
        balances.price = rng.between(0, 1e6);
        uint256 amount = requiredStake(index) + rng.between(0, 20e6);
        _fund(index, amount);
        vm.prank(owner);
        staking.list(bytes32(index), balances.price, Parties.payout(index, 0), amount);
        _addBalance(index, amount);
        _reach("list");
    }

    function stake(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = rng.between(0, TOOLS - 1);
        if (!_balances[index].listed || !_tokenMoves(Parties.developer(index), address(staking))) return;
        uint256 amount = rng.between(1, 50e6);
        _fund(index, amount);
        vm.prank(Parties.developer(index));
        staking.stake(toolIds[index], amount);
        _addBalance(index, amount);
        _reach("stake");
    }

    function setPrice(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = rng.between(0, TOOLS - 1);
        Balances storage balances = _balances[index];
        if (!balances.listed) return;
        uint256 price = rng.between(0, 1e6);
        bool expected = price <= balances.price || balances.counted >= _required(price);
        bytes memory call = abi.encodeCall(IToolStaking.setPrice, (toolIds[index], price));
        (bool ok, ) = _try(Parties.developer(index), address(staking), call);
        if (ok != expected) ++pricesGoneWrong;
        if (!ok) return;
        _reach(price > balances.price ? bytes32("raise the price") : bytes32("lower the price"));
        balances.price = price;
    }

    function setPayout(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = rng.between(0, TOOLS - 1);
        if (!_balances[index].listed) return;
        vm.prank(Parties.developer(index));
        staking.setPayout(toolIds[index], Parties.payout(index, rng.between(0, 1)));
        _reach("change the payout");
    }

    function requestWithdrawal(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = rng.between(0, TOOLS - 1);
        Balances storage balances = _balances[index];
        if (balances.counted == 0 || balances.requestedAt != 0) return;
        uint256 amount = rng.happens(30) ? balances.counted : rng.between(1, balances.counted);
        vm.prank(Parties.developer(index));
        staking.requestWithdrawal(toolIds[index], amount);
        balances.counted -= amount;
        balances.withdrawing = amount;
        balances.requestedAt = _now();
        _reach("request a withdrawal");
    }

    function cancelWithdrawal(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = rng.between(0, TOOLS - 1);
        Balances storage balances = _balances[index];
        if (balances.requestedAt == 0 || rng.happens(70)) return;
        vm.prank(Parties.developer(index));
        staking.cancelWithdrawal(toolIds[index]);
        balances.counted += balances.withdrawing;
        balances.withdrawing = 0;
        balances.requestedAt = 0;
        _reach("cancel a withdrawal");
    }

    /// @dev Tried at any time, and at the edges of the time when it is due.
    function withdraw(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = _toolWithWithdrawal(rng);
        Balances storage balances = _balances[index];
        if (!balances.listed) return;
        address to = rng.happens(30) ? address(0xFEE) : Parties.developer(index);
        if (balances.requestedAt != 0 && rng.happens(40)) _warpToTheEdgeOf(balances.requestedAt + 7 days, rng);
        else if (balances.requestedAt != 0 && rng.happens(30)) _besiege(index, rng);
        bool ready = balances.requestedAt != 0 && _now() >= balances.requestedAt + 7 days;
        bool slashPending = balances.terms.length != 0 && _now() < balances.proposedAt + 7 days;
        bool frozen = slashPending && _now() < balances.requestedAt + 21 days;
        uint256 before = usdc.balanceOf(to);
        bytes memory call = abi.encodeCall(IToolStaking.withdraw, (toolIds[index], to));
        (bool ok, ) = _try(Parties.developer(index), address(staking), call);
        if (!ok) {
            if (ready && !frozen && _tokenMoves(address(staking), to)) ++withdrawalsStuck;
            if (ready && frozen) _reach("hold a withdrawal");
            return;
        }
        uint256 left = usdc.balanceOf(to) - before;
        if (!ready || left != balances.withdrawing) ++withdrawalsTooEarly;
        if (frozen) ++withdrawalsDespiteFreeze;
        withdrawn += left;
        balances.withdrawing = 0;
        balances.requestedAt = 0;
        _reach(slashPending ? bytes32("withdraw after 14 frozen days") : bytes32("withdraw"));
    }

    function proposeSlash(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        _proposeSlash(_toolWithWithdrawal(rng), rng);
    }

    /// @dev Tried at any time, and at the edges of the time when it is due.
    function executeSlash(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = _toolWithSlash(rng);
        Balances storage balances = _balances[index];
        if (balances.terms.length == 0) return;
        if (rng.happens(40)) _warpToTheEdgeOf(balances.proposedAt + (rng.happens(70) ? 3 days : 7 days), rng);
        IToolStaking.SlashTerms memory terms = abi.decode(balances.terms, (IToolStaking.SlashTerms));
        uint256 slashable = _slashable(index, _now());
        uint256 amount = terms.amount < slashable ? terms.amount : slashable;
        bool inTime = _now() >= balances.proposedAt + 3 days && _now() < balances.proposedAt + 7 days;

        Paid memory paid = _credits();
        bytes memory call = abi.encodeCall(IToolStaking.executeSlash, (toolIds[index], terms));
        (bool ok, bytes memory answer) = _try(Parties.ADJUDICATOR, address(staking), call);
        if (!inTime) {
            if (ok) ++slashesOutOfTime;
            _reach("execute out of time");
            return;
        }
        // All of it can have left after 14 frozen days, or have gone to the court's penalties.
        if (amount == 0 && !ok) return;
        _mustSucceed(ok, answer);
        paid = _since(paid);
        if (!_paidRight(terms, amount, paid, balances.bountyBps)) ++slashesPaidWrong;
        refunded += paid.refunds;
        bounties += paid.bounties;
        remainders += paid.remainders;
        slashed += amount;
        _takeBalance(index, amount);
        balances.judged = terms.evidenceHash;
        delete balances.terms;
        _reach("execute a slash");
    }

    function dropSlash(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        uint256 index = _toolWithSlash(rng);
        Balances storage balances = _balances[index];
        if (balances.terms.length == 0 || rng.happens(70)) return;
        bool veto = rng.happens(50);
        vm.prank(veto ? Parties.GUARDIAN : Parties.ADJUDICATOR);
        if (veto) staking.vetoSlash(toolIds[index], keccak256(balances.terms));
        else staking.dismissSlash(toolIds[index]);
        delete balances.terms;
        if (veto) balances.vetoedAt = _now();
        _reach(veto ? bytes32("veto a slash") : bytes32("dismiss a slash"));
        // An adjudicator who does not give in proposes it again at once.
        if (veto) for (uint256 i = 0; i < 3; ++i) _proposeSlash(index, rng);
    }

    /// @dev What a court asks for is anything; what it gets is bounded.
    function penalize(uint256 seed) external later(seed) {
        Rng memory another = Rng(uint256(keccak256(abi.encode(seed))));
        if (another.happens(20)) _compensate(another);
        Rng memory rng = Rng(seed);
        uint256 index = rng.between(0, TOOLS - 1);
        uint256 amount = rng.between(0, rng.happens(50) ? 2e6 : 12e6);
        uint256 share = rng.between(0, amount);
        address payer = Parties.payer(rng.between(0, PAYERS - 1));
        bool expected = amount <= _penaltyLeft(index);
        Paid memory paid = _credits();
        bytes memory call = abi.encodeCall(IPenalties.penalize, (toolIds[index], amount, payer, share));
        (bool ok, ) = _try(Parties.COURT, address(staking), call);
        if (ok != expected) ++penaltiesGoneWrong;
        _reach(ok ? bytes32("penalize") : bytes32("penalize too much"));
        if (!ok) return;
        paid = _since(paid);
        if (paid.refunds != share || paid.remainders != amount - share) ++penaltiesGoneWrong;
        if (_slashPending(index)) _reach("penalize beside a slash");
        _penalties[index].push(Penalty(_now(), amount));
        penalized += amount;
        _takeBalance(index, amount);
    }

    function setParameters(uint256 seed) external later(seed) {
        Rng memory rng = Rng(seed);
        IToolStaking.Parameters memory next = IToolStaking.Parameters({
            minimumStake: uint48(rng.between(1e6, 40e6)),
            stakeMultiplier: uint32(rng.between(1, 200)),
            bountyBps: uint16(rng.between(0, 3000)),
            maxPenalty: uint48(rng.between(0, 10e6)),
            dailyPenaltyBps: uint16(rng.between(0, 5000)),
            earningMultiple: uint16(rng.between(1, 3))
        });
        bytes memory done = _administer(address(staking), abi.encodeCall(IToolStaking.setParameters, (next)));
        if (done.length == 0) return;
        _parameters = abi.decode(_arguments(done), (IToolStaking.Parameters));
        _reach("change the parameters");
    }

    function collect(uint256 seed) external later(seed) {
        _collect(staking, creditors(), Rng(seed));
    }

    function balancesOf(uint256 index) external view returns (Balances memory) {
        return _balances[index];
    }

    /// @notice Everybody who can have a credit in the staking contract.
    function creditors() public pure returns (address[] memory accounts) {
        accounts = new address[](PAYERS + REPORTERS + 1);
        for (uint256 i = 0; i < PAYERS; ++i) accounts[i] = Parties.payer(i);
        for (uint256 i = 0; i < REPORTERS; ++i) accounts[PAYERS + i] = Parties.reporter(i);
        accounts[PAYERS + REPORTERS] = Parties.INSURANCE;
    }

    /// @notice What the balances say that a tool has to stake.
    function requiredStake(uint256 index) public view returns (uint256) {
        return _required(_balances[index].price);
    }

    /// @notice Whether the balances say that a tool may be paid.
    function mayBePaid(uint256 index) public view returns (bool) {
        return _balances[index].listed && _balances[index].counted >= requiredStake(index);
    }

    /// @notice What a tool may earn in any 24 hours.
    function earningLimit(uint256 index) public view returns (uint256) {
        return _balances[index].counted * _parameters.earningMultiple;
    }

    function _required(uint256 price) private view returns (uint256) {
        uint256 multiple = price * _parameters.stakeMultiplier;
        return multiple > _parameters.minimumStake ? multiple : _parameters.minimumStake;
    }

    function _fund(uint256 index, uint256 amount) private {
        _mint(Parties.developer(index), amount);
        vm.prank(Parties.developer(index));
        usdc.approve(address(staking), amount);
    }

    function _addBalance(uint256 index, uint256 amount) private {
        _balances[index].counted += amount;
        deposited += amount;
    }

    function _takeBalance(uint256 index, uint256 amount) private {
        Balances storage balances = _balances[index];
        uint256 fromStake = amount < balances.counted ? amount : balances.counted;
        balances.counted -= fromStake;
        balances.withdrawing -= amount - fromStake;
        if (amount > fromStake) _reach("slash a withdrawal");
    }

    /// @dev An adjudicator who proposes as long as it helps, to keep a withdrawal that is ready.
    function _besiege(uint256 index, Rng memory rng) private {
        uint256 end = _balances[index].requestedAt + 21 days;
        uint256 last = end - rng.between(1 hours, 6 days);
        if (last < _now()) return;
        vm.warp(last);
        _proposeSlash(index, rng);
        _warpToTheEdgeOf(end, rng);
    }

    function _proposeSlash(uint256 index, Rng memory rng) private {
        Balances storage balances = _balances[index];
        uint256 slashable = _slashable(index, _now() + 3 days);
        if (slashable == 0 || _slashPending(index)) return;
        IToolStaking.SlashTerms memory terms = _randomTerms(rng, slashable);
        bool repeated = balances.judged != 0 && rng.happens(40);
        if (repeated) terms.evidenceHash = balances.judged;
        bytes memory call = abi.encodeCall(IToolStaking.proposeSlash, (toolIds[index], terms));
        (bool ok, bytes memory answer) = _try(Parties.ADJUDICATOR, address(staking), call);
        if (balances.vetoedAt != 0 && _now() < balances.vetoedAt + 8 days) {
            if (ok) ++slashesDespiteVeto;
            _reach("propose despite a veto");
            return;
        }
        if (repeated) {
            if (ok) ++slashesRepeated;
            _reach("propose judged evidence");
            return;
        }
        _mustSucceed(ok, answer);
        balances.terms = abi.encode(terms);
        balances.proposedAt = _now();
        balances.bountyBps = _parameters.bountyBps;
        _reach("propose a slash");
    }

    function _randomTerms(Rng memory rng, uint256 max) private returns (IToolStaking.SlashTerms memory terms) {
        // Mostly a part, so that tools live on.
        terms.amount = rng.happens(20) ? max : rng.between(1, max / 4 + 1);
        terms.evidenceHash = bytes32(++_evidence);
        if (rng.happens(70)) terms.reporter = Parties.reporter(rng.between(0, REPORTERS - 1));
        terms.refunds = new IToolStaking.Refund[](rng.between(0, 3));
        uint256 left = terms.amount;
        for (uint256 i = 0; i < terms.refunds.length; ++i) {
            uint256 amount = rng.happens(20) ? left : rng.between(0, left);
            terms.refunds[i] = IToolStaking.Refund(Parties.payer(rng.between(0, PAYERS - 1)), amount);
            left -= amount;
        }
    }

    function _slashPending(uint256 index) private view returns (bool) {
        return _balances[index].terms.length != 0 && _now() < _balances[index].proposedAt + 7 days;
    }

    /// @dev What a slash can reach at a moment: a withdrawal is out of reach 21 days after its request.
    function _slashable(uint256 index, uint256 moment) private view returns (uint256) {
        Balances storage balances = _balances[index];
        return balances.counted + (moment < balances.requestedAt + 21 days ? balances.withdrawing : 0);
    }

    /// @dev What a court may take now, by the plainest count: a part of what no slash asks for, less what it took in the
    /// periods of eight hours that the last 24 hours touch.
    /// @dev What a court asks for is anything; what the payer gets is what is left of the day, however much that is.
    function _compensate(Rng memory rng) private {
        uint256 index = rng.between(0, TOOLS - 1);
        uint256 amount = rng.between(0, rng.happens(50) ? 2e6 : 40e6);
        address payer = Parties.payer(rng.between(0, PAYERS - 1));
        uint256 left = _leftOfTheDay(index);
        Paid memory paid = _credits();
        vm.prank(Parties.COURT);
        uint256 taken = IPenalties(address(staking)).compensate(toolIds[index], amount, payer);
        paid = _since(paid);
        if (taken != (amount < left ? amount : left) || paid.refunds != taken) ++penaltiesGoneWrong;
        _reach(taken < amount ? bytes32("compensate in part") : bytes32("compensate"));
        if (taken > _parameters.maxPenalty) _reach("compensate above a penalty");
        _penalties[index].push(Penalty(_now(), taken));
        penalized += taken;
        _takeBalance(index, taken);
    }

    function _penaltyLeft(uint256 index) private view returns (uint256) {
        uint256 left = _leftOfTheDay(index);
        return left < _parameters.maxPenalty ? left : _parameters.maxPenalty;
    }

    function _leftOfTheDay(uint256 index) private view returns (uint256) {
        uint256 reach = _slashable(index, _now());
        if (_slashPending(index)) {
            uint256 claimed = abi.decode(_balances[index].terms, (IToolStaking.SlashTerms)).amount;
            reach = reach > claimed ? reach - claimed : 0;
        }
        uint256 daily = (reach * _parameters.dailyPenaltyBps) / 10_000;
        uint256 spent;
        for (uint256 i = 0; i < _penalties[index].length; ++i) {
            bool recent = _penalties[index][i].time / 8 hours + 3 >= _now() / 8 hours;
            if (recent) spent += _penalties[index][i].amount;
        }
        return daily > spent ? daily - spent : 0;
    }

    /// @dev Whether refunds and bounty are what the terms and the amount taken say.
    function _paidRight(
        IToolStaking.SlashTerms memory terms,
        uint256 amount,
        Paid memory paid,
        uint256 bountyBps
    ) private returns (bool) {
        uint256 proposed = _sum(terms.refunds);
        if (proposed > amount) {
            _reach("refund in proportion");
            proposed = 0;
            for (uint256 i = 0; i < terms.refunds.length; ++i) {
                proposed += (terms.refunds[i].amount * amount) / _sum(terms.refunds);
            }
        }
        uint256 due = (amount * bountyBps) / 10_000;
        if (due > amount - paid.refunds) due = amount - paid.refunds;
        return paid.refunds == proposed && paid.bounties == (terms.reporter == address(0) ? 0 : due);
    }

    /// @dev All credits that refunds, bounties and remainders have left in the contract.
    function _credits() private view returns (Paid memory paid) {
        for (uint256 i = 0; i < PAYERS; ++i) paid.refunds += staking.creditOf(Parties.payer(i));
        for (uint256 i = 0; i < REPORTERS; ++i) paid.bounties += staking.creditOf(Parties.reporter(i));
        paid.remainders = staking.creditOf(Parties.INSURANCE);
    }

    function _since(Paid memory before) private view returns (Paid memory paid) {
        paid = _credits();
        paid.refunds -= before.refunds;
        paid.bounties -= before.bounties;
        paid.remainders -= before.remainders;
    }

    /// @dev A tool with a withdrawal if there is one: that is where the rules of time are.
    function _toolWithWithdrawal(Rng memory rng) private view returns (uint256 index) {
        uint256 start = rng.between(0, TOOLS - 1);
        for (uint256 i = 0; i < TOOLS; ++i) {
            index = (start + i) % TOOLS;
            if (_balances[index].requestedAt != 0) return index;
        }
        return start;
    }

    function _toolWithSlash(Rng memory rng) private view returns (uint256 index) {
        uint256 start = rng.between(0, TOOLS - 1);
        for (uint256 i = 0; i < TOOLS; ++i) {
            index = (start + i) % TOOLS;
            if (_balances[index].terms.length != 0) return index;
        }
        return start;
    }

    function _sum(IToolStaking.Refund[] memory refunds) private pure returns (uint256 sum) {
        for (uint256 i = 0; i < refunds.length; ++i) sum += refunds[i].amount;
    }
}
