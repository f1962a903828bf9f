// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title Whether an account has signed something, at a bounded price
/// @notice A key signs for its own account whether or not that account has code (ERC-7702), so the key is asked
/// first, which also spares most accounts a look at their code. A smart account is asked afterwards (ERC-1271).
/// OpenZeppelin's SignatureChecker gives such an account all gas that there is; here it could ruin a whole batch
/// with it.
library Signatures {
    /// @dev What a smart account may use to judge a signature. It always gets this much: whoever sends the
    /// transaction cannot make a good signature look bad by giving too little.
    uint256 internal constant CHECK_GAS = 100_000;

    /// @dev What must be left so that the call gets CHECK_GAS: a call is given at most 63 of 64 parts.
    uint256 private constant NEEDED_GAS = (CHECK_GAS * 64) / 63 + 10_000;

    /// @notice There is too little gas for `signer` to judge its signature.
    error SignatureStarved(address signer);

    function isSignedBy(address signer, bytes32 hash, bytes calldata signature) internal view returns (bool) {
        (address recovered, ECDSA.RecoverError problem, ) = ECDSA.tryRecoverCalldata(hash, signature);
        if (problem == ECDSA.RecoverError.NoError && recovered == signer) return true;
        if (signer.code.length == 0) return false;
        return _accepts(signer, abi.encodeCall(IERC1271.isValidSignature, (hash, signature)));
    }

    /// @dev Of what the account returns only one word is copied, however much it is.
    function _accepts(address signer, bytes memory question) private view returns (bool accepted) {
        if (gasleft() < NEEDED_GAS) revert SignatureStarved(signer);
        bytes4 accepts = IERC1271.isValidSignature.selector;
        assembly ("memory-safe") {
            let ok := staticcall(CHECK_GAS, signer, add(question, 0x20), mload(question), 0, 0x20)
            accepted := and(and(ok, gt(returndatasize(), 0x1f)), eq(mload(0), accepts))
        }
    }
}
