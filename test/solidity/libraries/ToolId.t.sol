// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ToolId} from "../../../contracts/libraries/ToolId.sol";
import {vm} from "../support/Cheats.sol";

contract ToolIdTest {
    function testFuzz_anIdIsAUuidOfVersion8(address owner, bytes32 salt) public pure {
        bytes16 id = ToolId.derive(owner, salt);
        vm.assertEq(uint8(id[6]) >> 4, 8, "version 8");
        vm.assertEq(uint8(id[8]) >> 6, 2, "the variant of RFC 9562");
    }

    function testFuzz_theOtherBitsAreTheHash(address owner, bytes32 salt) public pure {
        bytes16 id = ToolId.derive(owner, salt);
        bytes32 hash = keccak256(bytes.concat(bytes12(0), bytes20(owner), salt));
        for (uint256 i = 0; i < 16; ++i) {
            uint8 mask =
                i == 6
                    ? 0x0f
                    : i == 8
                        ? 0x3f
                        : 0xff;
            vm.assertEq(uint8(id[i]) & mask, uint8(hash[i]) & mask, "a byte of the hash");
        }
    }

    function testFuzz_anotherOwnerGetsAnotherId(address owner, address other, bytes32 salt) public pure {
        if (owner == other) return;
        vm.assertTrue(ToolId.derive(owner, salt) != ToolId.derive(other, salt), "ids differ");
    }

    function testFuzz_anotherSaltGetsAnotherId(address owner, bytes32 salt, bytes32 other) public pure {
        if (salt == other) return;
        vm.assertTrue(ToolId.derive(owner, salt) != ToolId.derive(owner, other), "ids differ");
    }
}
