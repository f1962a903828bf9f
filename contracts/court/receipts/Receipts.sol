// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICharges} from "../interfaces/ICharges.sol";

/// @title Receipts as leaves of a batch's tree
library Receipts {
    /// @notice The leaf of a receipt. It begins with chain and router, so that a receipt is good for one of each, and
    /// is hashed twice, so that no inner node of a tree can pass for one.
    function leaf(ICharges.Receipt calldata receipt, address router) internal view returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(block.chainid, router, receipt))));
    }
}
