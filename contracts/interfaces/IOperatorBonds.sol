// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {ICredits} from "./ICredits.sol";

/// @title OperatorBonds: what an operator pledges for its receipts
/// @notice An operator without a bond cannot settle. What the receipt court takes from a bond is credited here to
/// whoever it belongs to, and claimed as credits are everywhere. The deposits of those who contest a charge lie here as
/// well.
///
/// A bond has an owner, who alone adds to it and takes it back: the operator itself, unless it has named another
/// before, which keeps the bond out of reach of a hot key. What is asked back counts no longer at once and leaves after
/// `WITHDRAWAL_DELAY`, which is longer than any dispute about a batch lasts; until then the court can take it.
interface IOperatorBonds is ICredits {
    /// @notice The bond of one operator.
    /// @param amount All of it.
    /// @param leaving What of it was asked back, and counts no longer.
    /// @param readyAt From when on that can leave; zero if nothing was asked back.
    struct Bond {
        uint64 amount;
        uint64 leaving;
        uint40 readyAt;
    }

    /// @notice What the admin can change, within fixed bounds.
    /// @param minimumBond The least that an operator pledges.
    /// @param limitBps How much of its limit for 24 hours it pledges at least, in basis points.
    struct Parameters {
        uint64 minimumBond;
        uint16 limitBps;
    }

    event BondPosted(address indexed operator, address indexed owner, uint256 amount);

    /// @notice `amount` of a bond can leave at `readyAt`. Zero means that all of it stays.
    event BondRequested(address indexed operator, uint256 amount, uint256 readyAt);
    event BondWithdrawn(address indexed operator, address indexed to, uint256 amount);

    /// @notice The court took `amount` from a bond and credited it to `account`.
    event BondSeized(address indexed operator, address indexed account, uint256 amount);
    event OwnerNamed(address indexed operator, address indexed owner);
    event ParametersSet(Parameters parameters);
    event CourtNamed(address indexed court);

    error NotBondOwner(address caller, address owner);
    error InvalidOwner(address owner);

    /// @notice The caller is not the court.
    error NotCourt(address caller);

    /// @notice The court was named before, and is named once.
    error CourtIsFixed(address court);
    error WithdrawalExceedsBond(uint256 attempt, uint256 bond);
    error NoBondWithdrawal(address operator);
    error BondNotReady(uint256 timestamp, uint256 readyAt);
    error ParameterOutOfBounds(uint256 attempt, uint256 min, uint256 max);

    /// @notice How long after the request a bond leaves.
    function WITHDRAWAL_DELAY() external view returns (uint256);

    /// @notice The contract that can take from bonds. It is named once, at deployment, and nobody can stop or replace
    /// it.
    function court() external view returns (address);

    function parameters() external view returns (Parameters memory);

    function bondOf(address operator) external view returns (Bond memory);

    /// @notice Who adds to an operator's bond and takes it back.
    function ownerOf(address operator) external view returns (address);

    /// @notice What an operator with this limit for 24 hours has to pledge.
    function requiredBond(uint256 limit) external view returns (uint256);

    /// @notice Whether what `operator` has pledged, and has not asked back, is enough for this limit.
    function covers(address operator, uint256 limit) external view returns (bool);

    /// @notice Makes `owner` the owner of the bond of `operator`, at once and without asking it.
    function nameOwner(address operator, address owner) external;

    /// @notice Adds `amount` of the caller's USDC, which it has approved, to the bond of `operator`.
    function post(address operator, uint256 amount) external;

    /// @notice Asks `amount` of a bond back. A second request replaces the first and waits again; zero takes it back.
    function requestWithdrawal(address operator, uint256 amount) external;

    /// @notice Sends what was asked back, and is still there, to `to`.
    function withdraw(address operator, address to) external returns (uint256 amount);

    /// @notice Names the court, once.
    function nameCourt(address court_) external;

    function setParameters(Parameters calldata parameters_) external;

    /// @notice Takes `amount`, or all that there is, from a bond and credits it to `account`. For the court.
    function seize(address operator, uint256 amount, address account) external returns (uint256 taken);

    /// @notice Takes a deposit of `amount` from `account`, which has approved it to this contract. For the court.
    function takeDeposit(address account, uint256 amount) external;

    /// @notice Credits `amount` of the deposits to `account`. For the court.
    function releaseDeposit(address account, uint256 amount) external;
}
