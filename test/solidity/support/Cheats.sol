// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The cheatcodes that these tests use
/// @notice The test runner answers them at a fixed address.
interface Cheats {
    function prank(address sender) external;

    function warp(uint256 timestamp) external;

    /// @dev The compiler may read `block.timestamp` once per function and keep it across a warp; this is read again.
    function getBlockTimestamp() external view returns (uint256);

    function chainId(uint256 id) external;

    function expectRevert(bytes calldata reason) external;

    function addr(uint256 privateKey) external pure returns (address);

    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);

    function getCode(string calldata contractName) external view returns (bytes memory);

    function readFile(string calldata path) external view returns (string memory);

    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);

    function parseBytes(string calldata text) external pure returns (bytes memory);

    function replace(
        string calldata text,
        string calldata from,
        string calldata to
    ) external pure returns (string memory);

    function toString(address account) external pure returns (string memory);

    function assertTrue(bool condition, string calldata claim) external pure;

    function assertEq(uint256 left, uint256 right, string calldata claim) external pure;

    function assertEq(address left, address right, string calldata claim) external pure;

    function assertLe(uint256 left, uint256 right, string calldata claim) external pure;

    function assertGe(uint256 left, uint256 right, string calldata claim) external pure;
}

Cheats constant vm = Cheats(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
