// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @title Consent: budgets that payers sign
/// @notice A budget is what a payer agrees to, signed without gas and brought to the chain by whoever settles:
/// ```
/// Budget(address payer,uint64 id,uint256 maxSpend,uint256 validUntil,bytes16[] tools)
/// ```
/// as EIP-712 typed data of the domain `ContextRouter`, version `1`, of this chain and this contract. It is
/// cumulative: the same id, signed again with a higher `maxSpend`, raises it, and only the newest signature needs to
/// come here. One signature per session or one per call is the same to this contract. Without tools a budget is good
/// for all of them; with or without, it pays the model, which is none. A payer who demands consent can be charged in no
/// other way.
///
/// What was signed stays signed. A higher limit for less time, or for other tools, takes nothing back of a lower one:
/// a row that brings that one is judged by it. Only `endBudget` ends what was signed under an id, after the grace.
interface IBudgets {
    /// @notice A budget as this contract knows it.
    /// @param maxSpend The most that may be spent in all; zero for a budget that was never brought here.
    /// @param spent What was spent of it.
    /// @param validUntil The last second in which it can be drawn on.
    /// @param endsAt The same, as its payer decided when ending it; zero if it was not ended.
    /// @param isForTools Whether it is good for some tools alone.
    struct Budget {
        uint48 maxSpend;
        uint48 spent;
        uint40 validUntil;
        uint40 endsAt;
        bool isForTools;
    }

    /// @notice A signature set what may be spent in all to `maxSpend`. Until when and for which tools, `budgetOf` says.
    event BudgetRaised(address indexed payer, uint64 indexed id, uint256 maxSpend);

    /// @notice `payer` ended a budget; until `endsAt` work that was delivered before can still be settled.
    event BudgetEnded(address indexed payer, uint64 indexed id, uint256 endsAt);

    /// @notice Whether `payer` can be charged under a budget alone.
    event ConsentRequiredSet(address indexed payer, bool required);

    /// @notice The budget has ended already, or will at `endsAt`.
    error BudgetAlreadyEnded(uint64 id, uint256 endsAt);

    /// @notice How long a budget that was ended can still be drawn on.
    function BUDGET_GRACE() external view returns (uint256);

    /// @notice A payer's budget, and the hash of its list of tools; zero if it is good for all.
    function budgetOf(address payer, uint64 id) external view returns (Budget memory budget, bytes32 toolsHash);

    /// @notice What a payer signs.
    function budgetDigest(
        address payer,
        uint64 id,
        uint256 maxSpend,
        uint256 validUntil,
        bytes16[] calldata tools
    ) external view returns (bytes32);

    /// @notice Whether `payer` can be charged under a budget alone.
    function consentRequired(address payer) external view returns (bool);

    /// @notice Switches on, at once, that the caller can be charged under a budget alone; or off.
    function setConsentRequired(bool required) external;

    /// @notice Ends one of the caller's budgets after the grace. Whatever was signed under its id, brought here or
    /// not, is void from then on.
    function endBudget(uint64 id) external;
}
