// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ICredits} from "../../../contracts/interfaces/ICredits.sol";
import {IContextRouter} from "../../../contracts/interfaces/IContextRouter.sol";
import {IFiatToken} from "../../../contracts/interfaces/IFiatToken.sol";
import {IToolStaking} from "../../../contracts/interfaces/IToolStaking.sol";
import {vm} from "./Cheats.sol";
import {Rng} from "./Rng.sol";
import {Parties, Protocol} from "./Protocol.sol";

/// @title What the handlers of the invariant tests share
/// @notice Every action takes one seed. An action that the contracts must refuse is tried all the same; what they let
/// through, or refuse against their own rules, is counted, and an invariant says that the count stays zero.
abstract contract Handler {
    IFiatToken internal immutable usdc;
    IAccessManager internal immutable manager;
    IToolStaking internal immutable staking;
    IContextRouter internal immutable router;

    /// @notice How often a path was taken, so that an invariant cannot hold only because nothing happened.
    mapping(bytes32 path => uint256 times) public reached;

    /// @notice Claims that failed although the token would have paid, or that succeeded although it would not.
    uint256 public claimsGoneWrong;

    /// @dev What the admin has scheduled; empty without anything.
    bytes private _scheduled;
    uint256 private _scheduledFor;

    /// @dev Mostly no time passes, so that much can happen in a day; now and then days go by. Pauses end soon, or
    /// little else would happen.
    modifier later(uint256 seed) {
        Rng memory rng = Rng(~seed);
        if (rng.happens(20)) vm.warp(_now() + rng.between(1, rng.happens(15) ? 3 days : 5 hours));
        if (rng.happens(20)) _endPauses();
        _;
    }

    constructor(Protocol memory protocol) {
        usdc = protocol.usdc;
        manager = protocol.manager;
        staking = protocol.staking;
        router = protocol.router;
    }

    function _now() internal view returns (uint256) {
        return vm.getBlockTimestamp();
    }

    /// @dev Goes to the last second before `moment`, or to `moment` itself, if it is yet to come. Rules of time are
    /// broken by a second, and random draws alone would hardly ever stand there.
    function _warpToTheEdgeOf(uint256 moment, Rng memory rng) internal {
        uint256 edge = rng.happens(50) ? moment - 1 : moment;
        if (edge > _now()) vm.warp(edge);
    }

    function _reach(bytes32 path) internal {
        ++reached[path];
    }

    function _try(address sender, address target, bytes memory data) internal returns (bool ok, bytes memory answer) {
        vm.prank(sender);
        return target.call(data);
    }

    function _paused() internal view returns (bool) {
        return Pausable(address(router)).paused();
    }

    function _mint(address account, uint256 amount) internal {
        vm.prank(Parties.CIRCLE);
        usdc.mint(account, amount);
    }

    /// @dev Whether the token would let `from` send to `to`.
    function _tokenMoves(address from, address to) internal view returns (bool) {
        return !usdc.paused() && !usdc.isBlacklisted(from) && !usdc.isBlacklisted(to);
    }

    /// @dev Claims the credit of one of the accounts, sometimes to another address, or pushes the credits of all. What
    /// the protocol has paused or frozen makes no difference to what is expected here.
    function _collect(ICredits credits, address[] memory accounts, Rng memory rng) internal {
        if (rng.happens(30)) {
            uint256 held = usdc.balanceOf(address(credits));
            uint256 paid = credits.payout(accounts);
            if (held - usdc.balanceOf(address(credits)) != paid) ++claimsGoneWrong;
            if (paid != 0) _reach("payout");
            return;
        }
        address account = _accountWithCredit(credits, accounts, rng);
        uint256 credit = credits.creditOf(account);
        address to = rng.happens(30) ? address(0xFEE) : account;
        bool expected = credit != 0 && _tokenMoves(address(credits), to);
        uint256 before = usdc.balanceOf(to);
        (bool ok, ) = _try(account, address(credits), abi.encodeCall(ICredits.claimTo, (to)));
        if (ok != expected || usdc.balanceOf(to) != before + (ok ? credit : 0)) ++claimsGoneWrong;
        if (!ok) return;
        _reach("claim");
        if (usdc.isBlacklisted(account)) _reach("claim past the blacklist");
    }

    /// @dev Schedules a change as the admin, or carries out the one that is due. Returns what was carried out.
    function _administer(address target, bytes memory change) internal returns (bytes memory done) {
        if (_scheduled.length == 0) {
            vm.prank(Parties.ADMIN);
            manager.schedule(target, change, 0);
            _scheduled = change;
            _scheduledFor = _now() + 8 days;
            return done;
        }
        if (_now() < _scheduledFor) return done;
        // The AccessManager forgets an operation that nobody carried out for a week.
        bool expired = _now() >= _scheduledFor + 1 weeks;
        if (!expired) {
            done = _scheduled;
            vm.prank(Parties.ADMIN);
            manager.execute(target, done);
        }
        delete _scheduled;
    }

    /// @dev Passes a revert on, which fails the test.
    function _mustSucceed(bool ok, bytes memory answer) internal pure {
        if (ok) return;
        assembly ("memory-safe") {
            revert(add(answer, 0x20), mload(answer))
        }
    }

    /// @dev What follows the selector.
    function _arguments(bytes memory call) internal pure returns (bytes memory arguments) {
        arguments = new bytes(call.length - 4);
        for (uint256 i = 0; i < arguments.length; ++i) arguments[i] = call[i + 4];
    }

    function _accountWithCredit(
        ICredits credits,
        address[] memory accounts,
        Rng memory rng
    ) private view returns (address account) {
        // An account that the token has blacklisted is rare and has a way out of its own, so it is looked for.
        bool blacklisted = rng.happens(40);
        uint256 start = rng.between(0, accounts.length - 1);
        for (uint256 i = 0; i < 2 * accounts.length; ++i) {
            account = accounts[(start + i) % accounts.length];
            bool suits = !blacklisted || i >= accounts.length || usdc.isBlacklisted(account);
            if (suits && credits.creditOf(account) != 0) break;
        }
    }

    function _endPauses() private {
        if (usdc.paused()) {
            vm.prank(Parties.CIRCLE);
            usdc.unpause();
        }
        if (_paused()) {
            vm.prank(Parties.GUARDIAN);
            router.unpause();
        }
    }
}
