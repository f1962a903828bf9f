// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Verdict} from "../interfaces/IJsonSchema.sol";
import {Json, Value} from "../json/Json.sol";
import {JsonObject, Members} from "../json/JsonObject.sol";
import {JsonString} from "../json/JsonString.sol";
import {Evaluation, Evaluator} from "./Evaluator.sol";

/// @title References within a schema
/// @notice `#`, `#` with a JSON pointer (RFC 6901), which may be percent-encoded, and `#` with an anchor, each of them
/// also behind the root's own absolute `$id`. A `$id` below the root changes what references mean, so that none are
/// followed in a schema that has one. Anchors are found at the root and directly in its `$defs`; what looks like one
/// elsewhere may be none, and then no anchor is followed. Nor is any beside a `$dynamicAnchor`, which is one as well.
library References {
    bytes32 private constant DRAFT = keccak256("https://json-schema.org/draft/2020-12/schema");
    bytes32 private constant DRAFT_WITH_FRAGMENT = keccak256("https://json-schema.org/draft/2020-12/schema#");

    /// @notice Looks through a schema for what changes the meaning of all the rest.
    /// @return ofThisDraft Whether no `$schema` in it names another draft.
    /// @return followed Whether references in it are followed.
    /// @return anchors How many anchors there are, or what looks like one.
    function survey(Value root) internal pure returns (bool ofThisDraft, bool followed, uint256 anchors) {
        (ofThisDraft, followed) = (true, true);
        if (!root.isKind(Json.OBJECT)) return (ofThisDraft, followed, anchors);
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
            } else if (
                (hash == uint256(keccak256("$anchor")) >> Json.NEXT_SHIFT ||
                    hash == uint256(keccak256("$dynamicAnchor")) >> Json.NEXT_SHIFT) &&
                name.valueOf().isKind(Json.STRING)
            ) {
                ++anchors;
            }
        }
    }

    /// @notice `$ref`.
    function follow(Evaluation memory e, Value name, Value json) internal pure returns (Verdict) {
        if (!e.followed || !name.valueOf().isKind(Json.STRING)) return Verdict.Unknown;
        Value target = _resolve(e, name.valueOf());
        return target.exists() ? Evaluator.evaluate(e, target, json) : Verdict.Unknown;
    }

    function _isThisDraft(Value uri) private pure returns (bool) {
        return JsonString.hashesTo(uri, DRAFT) || JsonString.hashesTo(uri, DRAFT_WITH_FRAGMENT);
    }

    /// @dev The value that a reference points to; one that does not exist if there is none.
    function _resolve(Evaluation memory e, Value uri) private pure returns (Value target) {
        (uint256 cursor, uint256 end) = JsonString.decoded(uri);
        unchecked {
            if (cursor == end) return Value.wrap(0);
            target = e.root;
            if (_byteAt(cursor) != 0x23) {
                cursor = _skipOwnId(target, cursor, end);
                if (cursor == end) return target;
                if (cursor == 0) return Value.wrap(0);
            }
            ++cursor;
            if (cursor < end && _beginsAnchor(_byteAt(cursor))) return _anchored(e, _hash(cursor, end));
            while (cursor < end && target.exists()) {
                bool known;
                uint256 endOfToken;
                uint256 token = Json.scratch();
                (known, cursor, endOfToken) = _token(cursor, end, token);
                target = known ? _child(target, token, endOfToken) : Value.wrap(0);
            }
        }
    }

    /// @dev Where the fragment begins behind the root's own `$id`, or the end if there is none; zero if it is another
    /// schema that is referred to. A relative `$id` means something else beside itself, one with a fragment means
    /// nothing, and nobody writes an escaped one.
    function _skipOwnId(Value root, uint256 cursor, uint256 end) private pure returns (uint256) {
        Value id = JsonObject.find(root, keccak256("$id"));
        if (!id.exists() || !id.isKind(Json.STRING) || id.isKind(Json.ESCAPED)) return 0;
        (uint256 start, uint256 endOfId) = JsonString.decoded(id);
        unchecked {
            if (start == endOfId || !_isAbsolute(start, endOfId)) return 0;
            if (_byteAt(endOfId - 1) == 0x23) --endOfId;
            uint256 length = endOfId - start;
            for (uint256 i = 0; i < length; ++i) if (_byteAt(start + i) == 0x23) return 0;
            if (length > end - cursor || _hash(start, endOfId) != _hash(cursor, cursor + length)) return 0;
            cursor += length;
            return cursor == end || _byteAt(cursor) == 0x23 ? cursor : 0;
        }
    }

    /// @dev Whether a URI begins with a scheme (RFC 3986).
    function _isAbsolute(uint256 cursor, uint256 end) private pure returns (bool) {
        unchecked {
            uint256 letter = (_byteAt(cursor) | 0x20) - 0x61;
            if (letter > 25) return false;
            for (; cursor < end; ++cursor) {
                uint256 c = _byteAt(cursor);
                if (c == 0x3a) return true;
                if (c == 0x2f || c == 0x3f || c == 0x23) return false;
            }
            return false;
        }
    }

    /// @dev Whether an anchor's name can begin with this byte: a letter or an underscore.
    function _beginsAnchor(uint256 c) private pure returns (bool) {
        unchecked {
            return c == 0x5f || (c | 0x20) - 0x61 < 26;
        }
    }

    /// @dev The schema with this anchor; none if another has it too, or if there are anchors that are not looked at.
    function _anchored(Evaluation memory e, bytes32 nameHash) private pure returns (Value target) {
        (uint256 seen, bool matches) = _anchorOf(e.root, nameHash);
        if (matches) target = e.root;
        Value definitions = JsonObject.find(e.root, keccak256("$defs"));
        if (definitions.exists() && definitions.isKind(Json.OBJECT)) {
            // Of definitions with the same name the last one counts, and what only the others have is not seen.
            Members members = JsonObject.members(definitions);
            for (uint256 i = 0; i < members.size(); ++i) {
                Value definition = members.nameAt(i).valueOf();
                uint256 more;
                (more, matches) = _anchorOf(definition, nameHash);
                seen += more;
                if (!matches) continue;
                if (target.exists()) return Value.wrap(0);
                target = definition;
            }
        }
        if (seen != e.anchors) return Value.wrap(0);
    }

    /// @dev How many anchors a schema itself has, one or none, and whether it is this one.
    function _anchorOf(Value schema, bytes32 nameHash) private pure returns (uint256 count, bool matches) {
        if (!schema.isKind(Json.OBJECT)) return (0, false);
        Value anchor = JsonObject.find(schema, keccak256("$anchor"));
        if (!anchor.exists() || !anchor.isKind(Json.STRING)) return (0, false);
        return (1, JsonString.hashesTo(anchor, nameHash));
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
