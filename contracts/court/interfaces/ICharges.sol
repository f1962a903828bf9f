// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @title What was charged, and what of it was given back
/// @notice Knows from a proof that a charge was settled and paid, and not only that somebody wrote a receipt for it.
interface ICharges {
    /// @notice Of which row of a batch something was not charged.
    /// @param row Where the row begins in the packed rows.
    /// @param lines A bit for each line that was refused, the first line lowest; all bits for a row that failed.
    struct Exception {
        uint256 row;
        uint256 lines;
    }

    /// @notice How a batch was settled. All of it is public: the call is in the transaction, and the exceptions are
    /// what its `ChargeFailed` and `LinesRefused` events say, in the order of the rows.
    /// @param operator Who settled it.
    /// @param call The whole calldata of `settle`.
    /// @param exceptions What was not charged.
    struct Settlement {
        address operator;
        bytes call;
        Exception[] exceptions;
    }

    /// @notice What an operator commits to for one charge. A leaf of the tree of receipts is
    /// `keccak256(bytes.concat(keccak256(abi.encode(chainId, router, receipt))))`.
    /// @param chargeId The charge. An operator charges it once.
    /// @param payer Who owes it.
    /// @param chargedTo Who was charged: the payer, or the insurance account in its place.
    /// @param toolId The tool that it is for; zero for the model.
    /// @param amount What it costs, in micro-USDC.
    /// @param calls How many calls it is for.
    /// @param accruedAtMs When it was delivered.
    /// @param attempts How often the payer could not pay.
    /// @param request The hash of what was asked.
    /// @param response The hash of what was answered.
    /// @param schema The hash of what was promised.
    struct Receipt {
        bytes32 chargeId;
        address payer;
        address chargedTo;
        bytes16 toolId;
        uint256 amount;
        uint256 calls;
        uint256 accruedAtMs;
        uint256 attempts;
        bytes32 request;
        bytes32 response;
        bytes32 schema;
    }

    /// @notice That a charge was paid.
    /// @param settlement The batch that it was paid in.
    /// @param receipt Its receipt.
    /// @param path The siblings from the receipt's leaf up to the root.
    struct PaidCharge {
        Settlement settlement;
        Receipt receipt;
        bytes32[] path;
    }

    /// @notice Takes note that a court gives the price of one call of a charge back, so that nobody gives it back
    /// again. Reverts if it was not paid, or was given back already. For courts.
    /// @return payer Who paid.
    /// @return amount What one call cost, in micro-USDC, rounded up.
    function noteRefund(PaidCharge calldata paid) external returns (address payer, uint256 amount);
}
