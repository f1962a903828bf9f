// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Tool ids
/// @notice A tool id is a UUID of version 8 whose 122 free bits are a hash of the owner's address and a salt. The owner
/// is part of the hash, so nobody can list the id of somebody else, not even by copying a pending transaction.
library ToolId {
    /// @dev Clears the bits that a UUID reserves for its version and its variant.
    uint128 private constant FREE_BITS = 0xffffffff_ffff_0fff_3fff_ffffffffffff;

    /// @dev Version 8 (an id of the application's own making) and the variant of RFC 9562.
    uint128 private constant VERSION_AND_VARIANT = 0x00000000_0000_8000_8000_000000000000;

    /// @notice The id of the tool that `owner` lists with `salt`.
    function derive(address owner, bytes32 salt) internal pure returns (bytes16) {
        bytes16 hash = bytes16(keccak256(abi.encode(owner, salt)));
        return bytes16((uint128(hash) & FREE_BITS) | VERSION_AND_VARIANT);
    }
}
