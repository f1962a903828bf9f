// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPenalties} from "../../../contracts/court/interfaces/IPenalties.sol";
import {ICharges} from "../../../contracts/court/interfaces/ICharges.sol";
import {ISchemaCourt} from "../../../contracts/court/interfaces/ISchemaCourt.sol";
import {IToolStaking} from "../../../contracts/interfaces/IToolStaking.sol";

/// @title A registry that knows owners, and writes down what a court takes
contract RecordingStakes is IPenalties {
    mapping(bytes16 toolId => address owner) public ownerOf;
    mapping(bytes16 toolId => uint256 taken) public takenFrom;
    mapping(address account => uint256 credit) public creditOf;

    /// @dev What is called back while a penalty is taken, as a hostile registry would.
    address private _target;
    bytes private _call;
    bytes public lastRevert;
    uint256 private _left = type(uint256).max;

    function list(bytes16 toolId, address owner) external {
        ownerOf[toolId] = owner;
    }

    function callBack(address target, bytes calldata call) external {
        (_target, _call) = (target, call);
    }

    function tool(bytes16 toolId) external view returns (IToolStaking.Tool memory listing) {
        listing.owner = ownerOf[toolId];
    }

    function penalize(
        bytes16 toolId,
        uint256 amount,
        address beneficiary,
        uint256 share
    ) external returns (uint256 taken) {
        takenFrom[toolId] += amount;
        creditOf[beneficiary] += share;
        _callBack();
        return amount;
    }

    function penaltyLeft(bytes16) external pure returns (uint256) {
        return type(uint256).max;
    }

    /// @dev What can be taken for refunds; the rest is owed.
    function setLeft(uint256 amount) external {
        _left = amount;
    }

    function compensate(bytes16 toolId, uint256 amount, address payer) external returns (uint256 taken) {
        taken = amount < _left ? amount : _left;
        _left -= taken;
        takenFrom[toolId] += taken;
        creditOf[payer] += taken;
        _callBack();
    }

    function _callBack() private {
        if (_target == address(0)) return;
        (bool succeeded, bytes memory reason) = _target.call(_call);
        require(!succeeded, "the court was entered again");
        lastRevert = reason;
    }
}

/// @title Takes whatever it is shown for proven
contract CredulousCharges is ICharges {
    function noteRefund(PaidCharge calldata paid) external pure returns (address payer, uint256 amount) {
        return (paid.receipt.chargedTo, paid.receipt.amount / paid.receipt.calls);
    }
}
