// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Account} from "@openzeppelin/contracts/account/Account.sol";
import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ERC7739} from "@openzeppelin/contracts/utils/cryptography/signers/draft-ERC7739.sol";
import {SignerECDSA} from "@openzeppelin/contracts/utils/cryptography/signers/SignerECDSA.sol";

/// @title A smart account as people have them
/// @notice OpenZeppelin's, put together as its documentation says: ERC-4337, signatures by ERC-1271 that are bound to
/// the account (ERC-7739), and calls in batches (ERC-7821), which its owner may ask for directly here.
contract SmartAccount is Account, EIP712, ERC7739, SignerECDSA, ERC7821 {
    constructor(address owner) EIP712("SmartAccount", "1") SignerECDSA(owner) {}

    function _erc7821AuthorizedExecutor(
        address caller,
        bytes32 mode,
        bytes calldata executionData
    ) internal view override returns (bool) {
        return caller == signer() || super._erc7821AuthorizedExecutor(caller, mode, executionData);
    }
}
