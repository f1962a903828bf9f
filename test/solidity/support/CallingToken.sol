// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A token that calls back whenever it moves
/// @notice USDC does not, but its code can be replaced. It is a party itself, so that what it calls may be allowed to it.
contract CallingToken {
    mapping(address account => uint256 amount) public balanceOf;
    mapping(address owner => mapping(address spender => uint256 amount)) public allowance;

    address private _target;
    bytes private _call;

    /// @notice How often it was called back, and what the last answer was.
    uint256 public calls;
    uint256 public entered;
    bytes public lastRevert;

    function mint(address account, uint256 amount) external {
        balanceOf[account] += amount;
    }

    /// @notice Calls `target` during every transfer from now on.
    function callBack(address target, bytes calldata call) external {
        (_target, _call, calls, entered) = (target, call, 0, 0);
    }

    /// @notice Does something as a party.
    function act(address target, bytes calldata call) external returns (bool ok, bytes memory answer) {
        return target.call(call);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    function paused() external pure returns (bool) {
        return false;
    }

    function isBlacklisted(address) external pure returns (bool) {
        return false;
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        if (_target == address(0) || calls != 0) return true;
        ++calls;
        (bool ok, bytes memory reason) = _target.call(_call);
        if (ok) ++entered;
        else lastRevert = reason;
        return true;
    }
}
