// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";
import {Json, Value} from "../json/Json.sol";
import {JsonObject} from "../json/JsonObject.sol";
import {JsonString} from "../json/JsonString.sol";
import {Evaluation, Evaluator} from "./Evaluator.sol";

/// @title References within a schema
/// @notice `#`, and `#` with a JSON pointer (RFC 6901), which may be percent-encoded. A `$id` below the root changes
/// what references mean, so that none are followed in a schema that has one.
library References {
    bytes32 private constant DRAFT = keccak256("https://json-schema.org/draft/2020-12/schema");
    bytes32 private constant DRAFT_WITH_FRAGMENT = keccak256("https://json-schema.org/draft/2020-12/schema#");

    /// @notice Looks through a schema for what changes the meaning of all the rest.
    /// @return ofThisDraft Whether no `$schema` in it names another draft.
    /// @return followed Whether references in it are followed.
    function survey(Value root) internal pure returns (bool ofThisDraft, bool followed) {
        (ofThisDraft, followed) = (true, true);
        if (!root.isKind(Json.OBJECT)) return (ofThisDraft, followed);
        Value ownId = JsonObject.find(root, keccak256("$id"));
        Value end = root.next();
        for (Value name = root.first(); name.isBefore(end); name = name.first()) {
            // Only names have their hash from the beginning. A property that is called so is described by a schema,
            // and no string.
            uint256 hash = name.word() >> Json.NEXT_SHIFT;
            if (hash == uint256(keccak256("$schema")) >> Json.NEXT_SHIFT && name.valueOf().isKind(Json.STRING)) {
                ofThisDraft = ofThisDraft && _isThisDraft(name.valueOf());
            } else if (hash == uint256(keccak256("$id")) >> Json.NEXT_SHIFT && name.valueOf().isKind(Json.STRING)) {
                followed = followed && Value.unwrap(name.valueOf()) == Value.unwrap(ownId);
            }
        }
    }

    /// @notice `$ref`.
    function follow(Evaluation memory e, Value name, Value json) internal pure returns (Verdict) {
        if (!e.followed || !name.valueOf().isKind(Json.STRING)) return Verdict.Unknown;
        Value target = _resolve(e.root, name.valueOf());
        return target.exists() ? Evaluator.evaluate(e, target, json) : Verdict.Unknown;
    }

    function _isThisDraft(Value uri) private pure returns (bool) {
        return JsonString.hashesTo(uri, DRAFT) || JsonString.hashesTo(uri, DRAFT_WITH_FRAGMENT);
    }

    /// @dev The value that a reference points to; one that does not exist if there is none.
    function _resolve(Value root, Value pointer) private pure returns (Value target) {
        (uint256 cursor, uint256 end) = JsonString.decoded(pointer);
        unchecked {
            if (cursor == end || _byteAt(cursor) != 0x23) return Value.wrap(0);
            target = root;
            ++cursor;
            while (cursor < end && target.exists()) {
                bool known;
                uint256 endOfToken;
                uint256 token = Json.scratch();
                (known, cursor, endOfToken) = _token(cursor, end, token);
                target = known ? _child(target, token, endOfToken) : Value.wrap(0);
            }
        }
    }

    /// @dev Reads a slash and what follows it up to the next one, and writes that to `to` as it was before it was
    /// encoded.
    function _token(
        uint256 cursor,
        uint256 end,
        uint256 to
    ) private pure returns (bool known, uint256 next, uint256 endOfToken) {
        unchecked {
            uint256 c;
            (c, cursor) = _percentDecoded(cursor, end);
            if (c != 0x2f) return (false, cursor, to);
            while (cursor < end) {
                (c, next) = _percentDecoded(cursor, end);
                if (c == 0x2f) break;
                cursor = next;
                if (c == 0x7e) {
                    (c, cursor) = cursor < end ? _percentDecoded(cursor, end) : (0, cursor);
                    if (c != 0x30 && c != 0x31) return (false, cursor, to);
                    c = c == 0x30 ? 0x7e : 0x2f;
                }
                if (c > 0xff) return (false, cursor, to);
                assembly ("memory-safe") {
                    mstore8(to, c)
                }
                ++to;
            }
            return (true, cursor, to);
        }
    }

    /// @dev The byte at an address, or the one that is percent-encoded there, and the address after it. More than a
    /// byte if the encoding is broken.
    function _percentDecoded(uint256 cursor, uint256 end) private pure returns (uint256 c, uint256 next) {
        unchecked {
            c = _byteAt(cursor);
            if (c != 0x25) return (c, cursor + 1);
            if (cursor + 3 > end) return (type(uint256).max, end);
            c = (_hexDigit(_byteAt(cursor + 1)) << 4) | _hexDigit(_byteAt(cursor + 2));
            return (c, cursor + 3);
        }
    }

    function _child(Value parent, uint256 token, uint256 endOfToken) private pure returns (Value) {
        if (parent.isKind(Json.OBJECT)) return JsonObject.find(parent, _hash(token, endOfToken));
        if (!parent.isKind(Json.ARRAY)) return Value.wrap(0);
        (bool isIndex, uint256 index) = _index(token, endOfToken);
        if (!isIndex || index >= parent.count()) return Value.wrap(0);
        Value value = parent.first();
        for (; index != 0; --index) value = value.next();
        return value;
    }

    /// @dev Reads an index: digits without a zero before them, few enough for what a text can hold.
    function _index(uint256 cursor, uint256 end) private pure returns (bool isIndex, uint256 index) {
        unchecked {
            uint256 length = end - cursor;
            if (length == 0 || length > 8 || (length > 1 && _byteAt(cursor) == 0x30)) return (false, 0);
            for (; cursor < end; ++cursor) {
                uint256 digit = _byteAt(cursor) - 0x30;
                if (digit > 9) return (false, 0);
                index = index * 10 + digit;
            }
            return (true, index);
        }
    }

    /// @dev More than any byte for what is no digit.
    function _hexDigit(uint256 c) private pure returns (uint256) {
        unchecked {
            if (c - 0x30 < 10) return c - 0x30;
            uint256 letter = (c | 0x20) - 0x61;
            return letter < 6 ? letter + 10 : 1 << 128;
        }
    }

    function _hash(uint256 start, uint256 end) private pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(start, sub(end, start))
        }
    }

    function _byteAt(uint256 cursor) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := byte(0, mload(cursor))
        }
    }
}
