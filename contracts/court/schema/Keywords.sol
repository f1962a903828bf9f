// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Json, Value} from "../json/Json.sol";
import {JsonString} from "../json/JsonString.sol";

/// @title The keywords of draft 2020-12
/// @notice A keyword is a number of two hexadecimal digits: the first says to which kind of value it applies.
library Keywords {
    /// @dev Asserts nothing: what only describes, what another keyword reads, and what the draft does not have.
    uint256 internal constant ANNOTATION = 0x01;

    uint256 internal constant ANY_GROUP = 0x10;
    uint256 internal constant REF = 0x10;
    uint256 internal constant TYPE = 0x11;
    uint256 internal constant ENUM = 0x12;
    uint256 internal constant CONST = 0x13;
    uint256 internal constant ALL_OF = 0x14;
    uint256 internal constant ANY_OF = 0x15;
    uint256 internal constant ONE_OF = 0x16;
    uint256 internal constant NOT = 0x17;
    uint256 internal constant IF = 0x18;
    uint256 internal constant UNDECIDED = 0x19;

    uint256 internal constant NUMBER_GROUP = 0x20;
    uint256 internal constant MINIMUM = 0x20;
    uint256 internal constant MAXIMUM = 0x21;
    uint256 internal constant EXCLUSIVE_MINIMUM = 0x22;
    uint256 internal constant EXCLUSIVE_MAXIMUM = 0x23;
    uint256 internal constant MULTIPLE_OF = 0x24;

    uint256 internal constant STRING_GROUP = 0x30;
    uint256 internal constant MIN_LENGTH = 0x30;
    uint256 internal constant MAX_LENGTH = 0x31;
    uint256 internal constant PATTERN = 0x32;

    uint256 internal constant ARRAY_GROUP = 0x40;
    uint256 internal constant ITEMS = 0x40;
    uint256 internal constant PREFIX_ITEMS = 0x41;
    uint256 internal constant CONTAINS = 0x42;
    uint256 internal constant MIN_ITEMS = 0x43;
    uint256 internal constant MAX_ITEMS = 0x44;
    uint256 internal constant UNIQUE_ITEMS = 0x45;
    uint256 internal constant UNEVALUATED_ITEMS = 0x46;

    uint256 internal constant OBJECT_GROUP = 0x50;
    uint256 internal constant PROPERTIES = 0x50;
    uint256 internal constant REQUIRED = 0x51;
    uint256 internal constant ADDITIONAL_PROPERTIES = 0x52;
    uint256 internal constant PATTERN_PROPERTIES = 0x53;
    uint256 internal constant PROPERTY_NAMES = 0x54;
    uint256 internal constant MIN_PROPERTIES = 0x55;
    uint256 internal constant MAX_PROPERTIES = 0x56;
    uint256 internal constant DEPENDENT_REQUIRED = 0x57;
    uint256 internal constant DEPENDENT_SCHEMAS = 0x58;
    uint256 internal constant UNEVALUATED_PROPERTIES = 0x59;

    uint256 private constant KINDS_OF_GROUPS =
        (Json.OBJECT << 40) | (Json.ARRAY << 32) | (Json.STRING << 24) | (Json.NUMBER << 16) | (Json.KINDS << 8);

    /// @notice The keyword that a name is. It is written into the name's word, so that each name is read once.
    function recognize(Value name) internal pure returns (uint256 keyword) {
        uint256 word = name.word();
        keyword = (word >> Json.KEYWORD_SHIFT) & 0xff;
        if (keyword != 0) return keyword;
        keyword = _named(JsonString.spelling(name));
        name.setWord(word | (keyword << Json.KEYWORD_SHIFT));
    }

    /// @notice Whether a keyword asks something of a value of this kind.
    function appliesTo(uint256 keyword, uint256 kind) internal pure returns (bool) {
        // A byte for each group: the kinds that it is for.
        return (KINDS_OF_GROUPS >> ((keyword >> 1) & 0x78)) & kind != 0;
    }

    function _named(bytes32 name) private pure returns (uint256) {
        if (name == "type") return TYPE;
        if (name == "properties") return PROPERTIES;
        if (name == "required") return REQUIRED;
        if (name == "items") return ITEMS;
        if (name == "description" || name == "title" || name == 0) return ANNOTATION;
        if (name == "additionalProperties") return ADDITIONAL_PROPERTIES;
        if (name == "enum") return ENUM;
        if (name == "const") return CONST;
        if (name == "$ref") return REF;
        if (name == "anyOf") return ANY_OF;
        if (name == "oneOf") return ONE_OF;
        if (name == "allOf") return ALL_OF;
        if (name == "not") return NOT;
        if (name == "if") return IF;
        uint256 keyword = _recognizeMeasure(name);
        return keyword == ANNOTATION ? _recognizeRare(name) : keyword;
    }

    function _recognizeMeasure(bytes32 name) private pure returns (uint256) {
        if (name == "minimum") return MINIMUM;
        if (name == "maximum") return MAXIMUM;
        if (name == "exclusiveMinimum") return EXCLUSIVE_MINIMUM;
        if (name == "exclusiveMaximum") return EXCLUSIVE_MAXIMUM;
        if (name == "multipleOf") return MULTIPLE_OF;
        if (name == "minLength") return MIN_LENGTH;
        if (name == "maxLength") return MAX_LENGTH;
        if (name == "minItems") return MIN_ITEMS;
        if (name == "maxItems") return MAX_ITEMS;
        if (name == "minProperties") return MIN_PROPERTIES;
        if (name == "maxProperties") return MAX_PROPERTIES;
        return ANNOTATION;
    }

    function _recognizeRare(bytes32 name) private pure returns (uint256) {
        if (name == "pattern") return PATTERN;
        if (name == "uniqueItems") return UNIQUE_ITEMS;
        if (name == "prefixItems") return PREFIX_ITEMS;
        if (name == "contains") return CONTAINS;
        if (name == "patternProperties") return PATTERN_PROPERTIES;
        if (name == "propertyNames") return PROPERTY_NAMES;
        if (name == "dependentRequired") return DEPENDENT_REQUIRED;
        if (name == "dependentSchemas") return DEPENDENT_SCHEMAS;
        if (name == "unevaluatedItems") return UNEVALUATED_ITEMS;
        if (name == "unevaluatedProperties") return UNEVALUATED_PROPERTIES;
        // Of older drafts, but still understood by validators of this one.
        if (name == "$dynamicRef" || name == "$recursiveRef" || name == "dependencies") return UNDECIDED;
        return ANNOTATION;
    }
}
