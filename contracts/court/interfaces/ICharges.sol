// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What was charged
/// @notice Knows from a proof that a charge was settled and paid, and not only that somebody wrote a receipt for it.
interface ICharges {
    /// @notice What a charge took from whom. Reverts if `proof` does not show that it was paid.
    /// @param proof The receipt, its place in a settled batch, and that its row did not fail.
    /// @return chargeId The charge.
    /// @return toolId The tool that it was for.
    /// @return payer Who paid.
    /// @return amount What all of its calls cost together, in micro-USDC.
    /// @return calls How many calls it was for; at least one.
    function provenCharge(
        bytes calldata proof
    ) external view returns (bytes32 chargeId, bytes16 toolId, address payer, uint256 amount, uint256 calls);
}
