// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {IBeneficiary} from "./IBeneficiary.sol";
import {ICredits} from "./ICredits.sol";

/// @title ToolStaking: the registry of tools and the stakes behind them
/// @notice A tool is paid only while its stake is at least `max(minimumStake, stakeMultiplier × price)`. A stake can
/// be withdrawn after 7 days, and until then it can be slashed. Nobody who judges a tool earns by it.
interface IToolStaking is IBeneficiary, ICredits {
    /// @notice A listing. Its first storage slot holds all that a settlement reads.
    /// @param payout Whom the tool's earnings are credited to.
    /// @param stake What counts as stake, in micro-USDC.
    /// @param price The listing price, in micro-USDC.
    /// @param owner Who may change the listing and withdraw the stake; zero for a tool that is not listed.
    /// @param withdrawing What has been requested for withdrawal. It no longer counts as stake, but can be slashed as
    /// long as a slash could hold it back.
    /// @param readyAt When the requested amount can be withdrawn; zero without a request.
    /// @param pendingOwner Who may accept the ownership; zero for nobody.
    struct Tool {
        address payout;
        uint48 stake;
        uint48 price;
        address owner;
        uint48 withdrawing;
        uint48 readyAt;
        address pendingOwner;
    }

    /// @notice A slash that has been proposed.
    /// @param termsHash What exactly was proposed: the hash of its `SlashTerms`.
    /// @param executableAt From when it can be executed; the developer has until then to answer.
    /// @param expiresAt From when it is void.
    /// @param amount What it asks for, in micro-USDC.
    /// @param bountyBps The reporter's share, as it was on the day of the proposal.
    /// @param vetoedUntil Until when nothing can be proposed, after a veto; the rest is zero then.
    struct Slash {
        bytes32 termsHash;
        uint48 executableAt;
        uint48 expiresAt;
        uint64 amount;
        uint16 bountyBps;
        uint48 vetoedUntil;
    }

    /// @notice A harmed payer and what it gets back.
    struct Refund {
        address payer;
        uint256 amount;
    }

    /// @notice What a slash takes and for whom.
    /// @param amount What to take from the stake.
    /// @param evidenceHash The hash of the published evidence. A tool is slashed once for the same evidence.
    /// @param reporter Who proved the fraud and earns the bounty; zero for nobody.
    /// @param refunds What the harmed payers get, before anybody else.
    struct SlashTerms {
        uint256 amount;
        bytes32 evidenceHash;
        address reporter;
        Refund[] refunds;
    }

    /// @notice What the admin can change, within the bounds that `setParameters` enforces.
    /// @param minimumStake The least stake of any tool, in micro-USDC.
    /// @param stakeMultiplier How many times its price a tool must stake.
    /// @param bountyBps The reporter's share of a slash, in basis points.
    /// @param maxPenalty The most that a court takes at once, in micro-USDC.
    /// @param dailyPenaltyBps The most that courts take from a tool in any 24 hours, in basis points of what a slash
    /// could reach.
    /// @param earningMultiple How many times its stake a tool may earn in any 24 hours.
    struct Parameters {
        uint48 minimumStake;
        uint32 stakeMultiplier;
        uint16 bountyBps;
        uint48 maxPenalty;
        uint16 dailyPenaltyBps;
        uint16 earningMultiple;
    }

    /// @notice A tool was listed. Its price, payout and stake follow in events of their own.
    event ToolListed(bytes16 indexed toolId, address indexed owner, bytes32 salt);

    event PriceSet(bytes16 indexed toolId, uint256 price);
    event PayoutSet(bytes16 indexed toolId, address indexed payout);
    event OwnershipTransferStarted(bytes16 indexed toolId, address indexed owner, address indexed pendingOwner);
    event OwnershipTransferred(bytes16 indexed toolId, address indexed previousOwner, address indexed owner);

    /// @notice `from` added `amount` to the tool's stake, which is now `stake`.
    event Staked(bytes16 indexed toolId, address indexed from, uint256 amount, uint256 stake);

    event WithdrawalRequested(bytes16 indexed toolId, uint256 amount, uint256 readyAt);
    event WithdrawalCancelled(bytes16 indexed toolId, uint256 amount);
    event Withdrawn(bytes16 indexed toolId, address indexed to, uint256 amount);

    /// @notice A slash was proposed. Its bounty is `bountyBps`, whatever the parameters become meanwhile.
    event SlashProposed(
        bytes16 indexed toolId,
        SlashTerms terms,
        uint256 bountyBps,
        uint256 executableAt,
        uint256 expiresAt
    );

    /// @notice An adjudicator dismissed a proposal, or a guardian vetoed it: `by` is the account that did.
    event SlashDropped(bytes16 indexed toolId, bytes32 termsHash, address indexed by);

    /// @notice A slash took `slashed`: it was credited as `refunded` to the payers, `bounty` to the reporter (zero
    /// for nobody) and `remainder` to the insurance account.
    event Slashed(
        bytes16 indexed toolId,
        bytes32 indexed evidenceHash,
        address indexed reporter,
        uint256 slashed,
        uint256 refunded,
        uint256 bounty,
        uint256 remainder
    );

    /// @notice A slash credited `amount` to a harmed payer.
    event Refunded(bytes16 indexed toolId, address indexed payer, uint256 amount);

    event ParametersSet(Parameters parameters);

    error ToolAlreadyListed(bytes16 toolId);
    error ToolNotListed(bytes16 toolId);
    error NotOwner(address caller, address owner);
    error NotPendingOwner(address caller, address pendingOwner);
    error InvalidPayout(address payout);

    /// @notice The stake is, or would be, `stake`; the price needs `required`.
    error StakeTooLow(uint256 stake, uint256 required);

    /// @notice A tool has one request at a time; this one is ready at `readyAt`.
    error WithdrawalPending(uint256 amount, uint256 readyAt);
    error NoWithdrawal(bytes16 toolId);
    error WithdrawalExceedsStake(uint256 amount, uint256 stake);
    error WithdrawalNotReady(uint256 timestamp, uint256 readyAt);

    /// @notice A proposed slash holds the withdrawal back, until `until` at the latest.
    error WithdrawalFrozen(uint256 timestamp, uint256 until);

    error SlashPending(bytes16 toolId, uint256 expiresAt);

    /// @notice The guardian vetoed a slash of this tool; the next one can be proposed from `until` on.
    error SlashVetoed(bytes16 toolId, uint256 until);
    error NoSlash(bytes16 toolId);
    error SlashTermsMismatch(bytes32 given, bytes32 proposed);
    error SlashNotReady(uint256 timestamp, uint256 executableAt);
    error SlashExpired(uint256 timestamp, uint256 expiresAt);
    error SlashExceedsStake(uint256 amount, uint256 slashable);
    error RefundsExceedSlash(uint256 refunds, uint256 slashed);
    error TooManyRefunds(uint256 count, uint256 max);
    error EvidenceAlreadyUsed(bytes16 toolId, bytes32 evidenceHash);

    /// @notice Whoever judges must not earn by it, whether or not it was this judge who proposed.
    error AdjudicatorMustNotEarn(address adjudicator);

    /// @notice Whoever judges or vetoes calls this contract itself: through the authority's `execute`, nobody would
    /// know who it was.
    error CalledThroughAuthority(address authority);

    error ParameterOutOfBounds(uint256 attempt, uint256 min, uint256 max);

    /// @notice How long a stake stays after its withdrawal has been requested.
    function WITHDRAWAL_DELAY() external view returns (uint256);

    /// @notice How long the developer has to answer a proposed slash.
    function SLASH_DELAY() external view returns (uint256);

    /// @notice How long a slash can be executed after that.
    function SLASH_WINDOW() external view returns (uint256);

    /// @notice How long no slash of a tool can be proposed after a veto: a day more than a stake needs to leave.
    function VETO_COOLDOWN() external view returns (uint256);

    /// @notice How long proposed slashes, however many, can hold back a withdrawal that is ready.
    function MAX_FREEZE() external view returns (uint256);

    /// @notice The most refunds of one slash.
    function MAX_REFUNDS() external view returns (uint256);

    /// @notice The account that gets what is left of a slash, and that pays for what the platform absorbs.
    function insurance() external view returns (address);

    /// @notice The parameters in force.
    function parameters() external view returns (Parameters memory);

    /// @notice A tool's listing.
    function tool(bytes16 toolId) external view returns (Tool memory);

    /// @notice A tool's proposed slash; all zero without one, except until when a veto holds.
    function slashOf(bytes16 toolId) external view returns (Slash memory);

    /// @notice The id that `owner` gets for `salt`: a UUID (version 8) that nobody else can list.
    function toolIdOf(address owner, bytes32 salt) external pure returns (bytes16);

    /// @notice The stake that a price needs.
    function requiredStake(uint256 price) external view returns (uint256);

    /// @notice Whom each tool pays, in the order asked, and what its stake lets it earn in any 24 hours: the payee
    /// (20 bytes) above the amount (12 bytes) in one word; zero for a tool that is not listed or whose stake is too
    /// low. Packed, because every batch asks for all of its tools.
    function earners(bytes16[] calldata toolIds) external view returns (uint256[] memory);

    /// @notice The same for one tool.
    function earner(bytes16 toolId) external view returns (address payee, uint256 limit);

    /// @notice Lists a tool and stakes for it, out of the caller's allowance.
    function list(bytes32 salt, uint256 price, address payout, uint256 stake) external returns (bytes16 toolId);

    /// @notice Changes the listing price. A higher price needs its stake first.
    function setPrice(bytes16 toolId, uint256 price) external;

    /// @notice Changes whom the tool's future earnings are credited to.
    function setPayout(bytes16 toolId, address payout) external;

    /// @notice Offers the tool, with its stake and its withdrawal, to `newOwner`; zero takes the offer back.
    function transferOwnership(bytes16 toolId, address newOwner) external;

    /// @notice Accepts a tool that was offered to the caller.
    function acceptOwnership(bytes16 toolId) external;

    /// @notice Adds to a tool's stake, out of the caller's allowance. Anybody may; it belongs to the tool's owner.
    function stake(bytes16 toolId, uint256 amount) external;

    /// @notice Takes `amount` out of what counts as stake and lets it be withdrawn in 7 days. Later deposits are not
    /// part of it.
    function requestWithdrawal(bytes16 toolId, uint256 amount) external;

    /// @notice Makes the requested amount count as stake again.
    function cancelWithdrawal(bytes16 toolId) external;

    /// @notice Sends the requested amount to `to`, once it is ready.
    function withdraw(bytes16 toolId, address to) external returns (uint256 amount);

    /// @notice Proposes a slash and publishes its terms. The tool's withdrawals wait meanwhile.
    function proposeSlash(bytes16 toolId, SlashTerms calldata terms) external;

    /// @notice Executes a slash exactly as it was proposed: takes the amount, or all that can be reached if that is
    /// less, and credits refunds first (each in proportion, if there is not enough), then the bounty, then the rest
    /// to the insurance account.
    function executeSlash(bytes16 toolId, SlashTerms calldata terms) external;

    /// @notice The adjudicator drops its proposal, for instance because the developer's answer convinced.
    function dismissSlash(bytes16 toolId) external;

    /// @notice The guardian stops the proposal with these terms, for instance because the adjudicator's key was
    /// stolen. Nothing else can be proposed for this tool until the cool-down is over.
    function vetoSlash(bytes16 toolId, bytes32 termsHash) external;

    /// @notice Changes the parameters, within bounds.
    function setParameters(Parameters calldata newParameters) external;
}
