// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {IContextRouter} from "../../../contracts/interfaces/IContextRouter.sol";
import {IFiatToken} from "../../../contracts/interfaces/IFiatToken.sol";
import {IToolStaking} from "../../../contracts/interfaces/IToolStaking.sol";

/// @notice The deployed contracts.
struct Protocol {
    IFiatToken usdc;
    IAccessManager manager;
    IToolStaking staking;
    IContextRouter router;
}

/// @title Who plays which part in the tests
library Parties {
    address internal constant PROXY_ADMIN = address(0xC0);
    address internal constant CIRCLE = address(0xC1);
    address internal constant ADMIN = address(0xA1);
    address internal constant GUARDIAN = address(0xA2);
    address internal constant ADJUDICATOR = address(0xA3);
    address internal constant TREASURY = address(0xA4);
    address internal constant INSURANCE = address(0xA5);
    address internal constant OPERATOR = address(0xA6);
    address internal constant SECOND_OPERATOR = address(0xA7);
    address internal constant COURT = address(0xA8);

    function payer(uint256 index) internal pure returns (address) {
        return address(uint160(0x1000 + index));
    }

    function developer(uint256 index) internal pure returns (address) {
        return address(uint160(0x2000 + index));
    }

    /// @notice No two tools share a payout address, so that a credit there says which tool was paid.
    function payout(uint256 toolIndex, uint256 choice) internal pure returns (address) {
        return address(uint160(0x3000 + 0x100 * toolIndex + choice));
    }

    function reporter(uint256 index) internal pure returns (address) {
        return address(uint160(0x4000 + index));
    }
}
