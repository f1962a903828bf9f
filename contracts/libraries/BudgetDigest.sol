// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

/// @title What a payer signs
/// @notice The EIP-712 digest of a budget, see IBudgets.
library BudgetDigest {
    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant NAME_HASH = keccak256("ContextRouter");
    bytes32 private constant VERSION_HASH = keccak256("1");

    bytes32 private constant BUDGET_TYPEHASH = keccak256(
        "Budget(address payer,uint64 id,uint256 maxSpend,uint256 validUntil,bytes16[] tools)"
    );

    /// @notice The domain of the contract that asks, on this chain.
    /// @dev Kept as immutable values, it would make the code depend on its address, and nobody could build it again and
    /// compare.
    function domain() internal view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this)));
    }

    /// @notice The digest of a budget in that domain.
    /// @dev It is hashed behind what is allocated, and nothing is left there. `abi.encode` would allocate it for good,
    /// and a batch of signed rows pays for all memory that it ever touched.
    function digest(
        bytes32 domain_,
        address payer,
        uint256 id,
        uint256 maxSpend,
        uint256 validUntil,
        bytes32 toolsHash
    ) internal pure returns (bytes32 result) {
        bytes32 typehash = BUDGET_TYPEHASH;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, typehash)
            mstore(add(free, 0x20), shr(96, shl(96, payer)))
            mstore(add(free, 0x40), id)
            mstore(add(free, 0x60), maxSpend)
            mstore(add(free, 0x80), validUntil)
            mstore(add(free, 0xa0), toolsHash)
            result := keccak256(free, 0xc0)
        }
        return MessageHashUtils.toTypedDataHash(domain_, result);
    }
}
