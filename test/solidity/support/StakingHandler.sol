// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IToolStaking} from "../../../contracts/interfaces/IToolStaking.sol";
import {vm} from "./Cheats.sol";
import {Dice} from "./Dice.sol";
import {Handler} from "./Handler.sol";
import {Parties, Protocol} from "./Protocol.sol";

/// @title Developers, the adjudicator and the guardian, living with ToolStaking
/// @notice Keeps its own books of every tool. They never read the contract's, so that the two can be compared.
contract StakingHandler is Handler {
    /// @notice A tool's books.
    /// @param counted What counts as stake.
    /// @param withdrawing What has been requested.
    /// @param requestedAt When; zero without a request.
    /// @param terms The encoded terms of the proposed slash; empty without one.
    /// @param judged Evidence that the tool was slashed for.
    struct Books {
        bool listed;
        uint256 price;
        uint256 counted;
        uint256 withdrawing;
        uint256 requestedAt;
        bytes terms;
        uint256 proposedAt;
        bytes32 judged;
    }

    uint256 public constant TOOLS = 4;
    uint256 private constant PAYERS = 4;
    uint256 private constant REPORTERS = 2;

    bytes16[] public toolIds;
    IToolStaking.Parameters private _parameters = IToolStaking.Parameters(10e6, 100, 1000);
    mapping(uint256 index => Books) private _books;

    uint256 public deposited;
    uint256 public withdrawn;
    uint256 public slashed;
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

    /// @notice Prices that rose without the stake for it, or did not rise with it.
    uint256 public pricesGoneWrong;

    uint256 private _evidence;

    constructor(Protocol memory protocol) Handler(protocol) {
        for (uint256 i = 0; i < TOOLS; ++i) {
            toolIds.push(staking.toolIdOf(Parties.developer(i), bytes32(i)));
        }
    }

    function list(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = dice.roll(0, TOOLS - 1);
        Books storage books = _books[index];
        address owner = Parties.developer(index);
        if (books.listed || !_tokenMoves(owner, address(staking))) return;
        books.listed = true;
        books.price = dice.roll(0, 1e6);
        uint256 amount = requiredStake(index) + dice.roll(0, 20e6);
        _fund(index, amount);
        vm.prank(owner);
        staking.list(bytes32(index), books.price, Parties.payout(index, 0), amount);
        _booksDeposit(index, amount);
        _reach("list");
    }

    function stake(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = dice.roll(0, TOOLS - 1);
        if (!_books[index].listed || !_tokenMoves(Parties.developer(index), address(staking))) return;
        uint256 amount = dice.roll(1, 50e6);
        _fund(index, amount);
        vm.prank(Parties.developer(index));
        staking.stake(toolIds[index], amount);
        _booksDeposit(index, amount);
        _reach("stake");
    }

    function setPrice(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = dice.roll(0, TOOLS - 1);
        Books storage books = _books[index];
        if (!books.listed) return;
        uint256 price = dice.roll(0, 1e6);
        bool expected = price <= books.price || books.counted >= _required(price);
        bytes memory call = abi.encodeCall(IToolStaking.setPrice, (toolIds[index], price));
        (bool ok, ) = _try(Parties.developer(index), address(staking), call);
        if (ok != expected) ++pricesGoneWrong;
        if (!ok) return;
        _reach(price > books.price ? bytes32("raise the price") : bytes32("lower the price"));
        books.price = price;
    }

    function setPayout(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = dice.roll(0, TOOLS - 1);
        if (!_books[index].listed) return;
        vm.prank(Parties.developer(index));
        staking.setPayout(toolIds[index], Parties.payout(index, dice.roll(0, 1)));
        _reach("change the payout");
    }

    function requestWithdrawal(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = dice.roll(0, TOOLS - 1);
        Books storage books = _books[index];
        if (books.counted == 0 || books.requestedAt != 0) return;
        uint256 amount = dice.chance(30) ? books.counted : dice.roll(1, books.counted);
        vm.prank(Parties.developer(index));
        staking.requestWithdrawal(toolIds[index], amount);
        books.counted -= amount;
        books.withdrawing = amount;
        books.requestedAt = _now();
        _reach("request a withdrawal");
    }

    function cancelWithdrawal(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = dice.roll(0, TOOLS - 1);
        Books storage books = _books[index];
        if (books.requestedAt == 0 || dice.chance(70)) return;
        vm.prank(Parties.developer(index));
        staking.cancelWithdrawal(toolIds[index]);
        books.counted += books.withdrawing;
        books.withdrawing = 0;
        books.requestedAt = 0;
        _reach("cancel a withdrawal");
    }

    /// @dev Tried at any time, and at the edges of the time when it is due.
    function withdraw(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = _toolWithWithdrawal(dice);
        Books storage books = _books[index];
        if (!books.listed) return;
        address to = dice.chance(30) ? address(0xFEE) : Parties.developer(index);
        if (books.requestedAt != 0 && dice.chance(40)) _warpToTheEdgeOf(books.requestedAt + 7 days, dice);
        else if (books.requestedAt != 0 && dice.chance(30)) _besiege(index, dice);
        bool ready = books.requestedAt != 0 && _now() >= books.requestedAt + 7 days;
        bool slashPending = books.terms.length != 0 && _now() < books.proposedAt + 7 days;
        bool frozen = slashPending && _now() < books.requestedAt + 21 days;
        uint256 before = usdc.balanceOf(to);
        bytes memory call = abi.encodeCall(IToolStaking.withdraw, (toolIds[index], to));
        (bool ok, ) = _try(Parties.developer(index), address(staking), call);
        if (!ok) {
            if (ready && !frozen && _tokenMoves(address(staking), to)) ++withdrawalsStuck;
            if (ready && frozen) _reach("hold a withdrawal");
            return;
        }
        uint256 left = usdc.balanceOf(to) - before;
        if (!ready || left != books.withdrawing) ++withdrawalsTooEarly;
        if (frozen) ++withdrawalsDespiteFreeze;
        withdrawn += left;
        books.withdrawing = 0;
        books.requestedAt = 0;
        _reach(slashPending ? bytes32("withdraw after 14 frozen days") : bytes32("withdraw"));
    }

    function proposeSlash(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        _proposeSlash(_toolWithWithdrawal(dice), dice);
    }

    /// @dev Tried at any time, and at the edges of the time when it is due.
    function executeSlash(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = _toolWithSlash(dice);
        Books storage books = _books[index];
        if (books.terms.length == 0) return;
        if (dice.chance(40)) _warpToTheEdgeOf(books.proposedAt + (dice.chance(70) ? 3 days : 7 days), dice);
        IToolStaking.SlashTerms memory terms = abi.decode(books.terms, (IToolStaking.SlashTerms));
        uint256 slashable = books.counted + books.withdrawing;
        uint256 amount = terms.amount < slashable ? terms.amount : slashable;
        bool inTime = _now() >= books.proposedAt + 3 days && _now() < books.proposedAt + 7 days;
        bool covered = _sum(terms.refunds) <= amount;

        (uint256 refundsBefore, uint256 bountiesBefore, uint256 remaindersBefore) = _credits();
        bytes memory call = abi.encodeCall(IToolStaking.executeSlash, (toolIds[index], terms));
        (bool ok, bytes memory answer) = _try(Parties.ADJUDICATOR, address(staking), call);
        if (!inTime) {
            if (ok) ++slashesOutOfTime;
            _reach("execute out of time");
            return;
        }
        // A stake that left after 14 frozen days can be missing here; then nothing is paid out.
        if (!covered && !ok) return;
        _mustSucceed(ok, answer);
        (uint256 refundsAfter, uint256 bountiesAfter, uint256 remaindersAfter) = _credits();
        refunded += refundsAfter - refundsBefore;
        bounties += bountiesAfter - bountiesBefore;
        remainders += remaindersAfter - remaindersBefore;
        _booksSlash(index, amount);
        books.judged = terms.evidenceHash;
        delete books.terms;
        _reach("execute a slash");
    }

    function dropSlash(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        uint256 index = _toolWithSlash(dice);
        Books storage books = _books[index];
        if (books.terms.length == 0 || dice.chance(70)) return;
        bool veto = dice.chance(50);
        vm.prank(veto ? Parties.GUARDIAN : Parties.ADJUDICATOR);
        if (veto) staking.vetoSlash(toolIds[index]);
        else staking.dismissSlash(toolIds[index]);
        delete books.terms;
        _reach(veto ? bytes32("veto a slash") : bytes32("dismiss a slash"));
    }

    function setParameters(uint256 seed) external later(seed) {
        Dice memory dice = Dice(seed);
        IToolStaking.Parameters memory next = IToolStaking.Parameters({
            minimumStake: uint48(dice.roll(1e6, 40e6)),
            stakeMultiplier: uint32(dice.roll(1, 200)),
            bountyBps: uint16(dice.roll(0, 3000))
        });
        bytes memory done = _administer(address(staking), abi.encodeCall(IToolStaking.setParameters, (next)));
        if (done.length == 0) return;
        _parameters = abi.decode(_arguments(done), (IToolStaking.Parameters));
        _reach("change the parameters");
    }

    function collect(uint256 seed) external later(seed) {
        _collect(staking, creditors(), Dice(seed));
    }

    function booksOf(uint256 index) external view returns (Books memory) {
        return _books[index];
    }

    /// @notice Everybody who can have a credit in the staking contract.
    function creditors() public pure returns (address[] memory accounts) {
        accounts = new address[](PAYERS + REPORTERS + 1);
        for (uint256 i = 0; i < PAYERS; ++i) accounts[i] = Parties.payer(i);
        for (uint256 i = 0; i < REPORTERS; ++i) accounts[PAYERS + i] = Parties.reporter(i);
        accounts[PAYERS + REPORTERS] = Parties.INSURANCE;
    }

    /// @notice What the books say that a tool has to stake.
    function requiredStake(uint256 index) public view returns (uint256) {
        return _required(_books[index].price);
    }

    /// @notice Whether the books say that a tool may be paid.
    function mayBePaid(uint256 index) public view returns (bool) {
        return _books[index].listed && _books[index].counted >= requiredStake(index);
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

    function _booksDeposit(uint256 index, uint256 amount) private {
        _books[index].counted += amount;
        deposited += amount;
    }

    function _booksSlash(uint256 index, uint256 amount) private {
        Books storage books = _books[index];
        uint256 fromStake = amount < books.counted ? amount : books.counted;
        books.counted -= fromStake;
        books.withdrawing -= amount - fromStake;
        slashed += amount;
        if (amount > fromStake) _reach("slash a withdrawal");
    }

    /// @dev An adjudicator who proposes as long as it helps, to keep a withdrawal that is ready.
    function _besiege(uint256 index, Dice memory dice) private {
        uint256 end = _books[index].requestedAt + 21 days;
        uint256 last = end - dice.roll(1 hours, 6 days);
        if (last < _now()) return;
        vm.warp(last);
        _proposeSlash(index, dice);
        _warpToTheEdgeOf(end, dice);
    }

    function _proposeSlash(uint256 index, Dice memory dice) private {
        Books storage books = _books[index];
        uint256 slashable = books.counted + books.withdrawing;
        bool pending = books.terms.length != 0 && _now() < books.proposedAt + 7 days;
        if (slashable == 0 || pending) return;
        IToolStaking.SlashTerms memory terms = _rollTerms(dice, slashable);
        bool repeated = books.judged != 0 && dice.chance(40);
        if (repeated) terms.evidenceHash = books.judged;
        bytes memory call = abi.encodeCall(IToolStaking.proposeSlash, (toolIds[index], terms));
        (bool ok, bytes memory answer) = _try(Parties.ADJUDICATOR, address(staking), call);
        if (repeated) {
            if (ok) ++slashesRepeated;
            _reach("propose judged evidence");
            return;
        }
        _mustSucceed(ok, answer);
        books.terms = abi.encode(terms);
        books.proposedAt = _now();
        _reach("propose a slash");
    }

    function _rollTerms(Dice memory dice, uint256 max) private returns (IToolStaking.SlashTerms memory terms) {
        // Mostly a part, so that tools live on.
        terms.amount = dice.chance(20) ? max : dice.roll(1, max / 4 + 1);
        terms.evidenceHash = bytes32(++_evidence);
        if (dice.chance(70)) terms.reporter = Parties.reporter(dice.roll(0, REPORTERS - 1));
        terms.refunds = new IToolStaking.Refund[](dice.roll(0, 3));
        uint256 left = terms.amount;
        for (uint256 i = 0; i < terms.refunds.length; ++i) {
            uint256 amount = dice.chance(20) ? left : dice.roll(0, left);
            terms.refunds[i] = IToolStaking.Refund(Parties.payer(dice.roll(0, PAYERS - 1)), amount);
            left -= amount;
        }
    }

    /// @dev All credits that refunds, bounties and remainders have left in the contract.
    function _credits() private view returns (uint256 refunds_, uint256 bounties_, uint256 remainders_) {
        for (uint256 i = 0; i < PAYERS; ++i) refunds_ += staking.creditOf(Parties.payer(i));
        for (uint256 i = 0; i < REPORTERS; ++i) bounties_ += staking.creditOf(Parties.reporter(i));
        remainders_ = staking.creditOf(Parties.INSURANCE);
    }

    /// @dev A tool with a withdrawal if there is one: that is where the rules of time are.
    function _toolWithWithdrawal(Dice memory dice) private view returns (uint256 index) {
        uint256 start = dice.roll(0, TOOLS - 1);
        for (uint256 i = 0; i < TOOLS; ++i) {
            index = (start + i) % TOOLS;
            if (_books[index].requestedAt != 0) return index;
        }
        return start;
    }

    function _toolWithSlash(Dice memory dice) private view returns (uint256 index) {
        uint256 start = dice.roll(0, TOOLS - 1);
        for (uint256 i = 0; i < TOOLS; ++i) {
            index = (start + i) % TOOLS;
            if (_books[index].terms.length != 0) return index;
        }
        return start;
    }

    function _sum(IToolStaking.Refund[] memory refunds) private pure returns (uint256 sum) {
        for (uint256 i = 0; i < refunds.length; ++i) sum += refunds[i].amount;
    }
}
